#include "display.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace custodian::demo {
namespace {

bool is_terminal() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr &&
         std::string_view{terminal} != "dumb";
}

bool colours_refused() {
  const char* refused = std::getenv("NO_COLOR");
  return refused != nullptr && *refused != '\0';
}

/// The most columns of a line that does not wrap: a line that wrapped would break the drawing in
/// place.
std::size_t width() {
  constexpr std::size_t usual = 79;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return usual;
  return std::min<std::size_t>(size.ws_col - 1U, usual);
}

std::string bar(long done, long planned, std::size_t length) {
  const auto filled =
      planned == 0 ? length
                   : static_cast<std::size_t>(done) * length / static_cast<std::size_t>(planned);
  return "[" + std::string(filled, '#') + std::string(length - filled, '.') + "]";
}

}  // namespace

Display::Display() : in_place_{is_terminal()}, colours_{in_place_ && !colours_refused()} {}

void Display::show(const Picture& picture) {
  const std::string holder = picture.holder.empty() ? "nobody" : picture.holder;
  const std::string count =
      std::to_string(picture.done) + " of " + std::to_string(picture.planned) + " increments";
  if (in_place_) {
    erase();
    lines_[0] = "holds: " + holder + "   waiting: " + std::to_string(picture.waiting);
    constexpr std::size_t beside_bar = 3;
    const std::size_t room = width();
    const std::size_t length = room > count.size() + beside_bar
                                   ? std::min<std::size_t>(30, room - count.size() - beside_bar)
                                   : 0;
    lines_[1] = length == 0 ? count : bar(picture.done, picture.planned, length) + " " + count;
    draw();
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now < next_plain_line_) return;
  next_plain_line_ = now + std::chrono::seconds{1};
  std::cout << count << "; " << holder << " holds, " << picture.waiting << " wait" << '\n'
            << std::flush;
}

void Display::tell(const std::string& message) {
  erase();
  std::cout << message << '\n' << std::flush;
  if (in_place_ && !lines_[0].empty()) draw();
}

void Display::finish() {
  drawn_ = false;
  lines_[0].clear();
}

void Display::erase() {
  // Moves two lines up, and clears everything below.
  if (drawn_) std::cout << "\x1b[2A\x1b[J";
  drawn_ = false;
}

void Display::draw() {
  for (const std::string& line : lines_) std::cout << line.substr(0, width()) << '\n';
  std::cout << std::flush;
  drawn_ = true;
}

}  // namespace custodian::demo
