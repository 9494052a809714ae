#include "text/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

ScreenSize size_now() {
  winsize size{};
  const bool known =
      ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0;
  return known ? ScreenSize{size.ws_row, size.ws_col} : ScreenSize{};
}

}  // namespace

bool Screen::is_terminal() noexcept { return ::isatty(STDOUT_FILENO) == 1; }

std::string frame(const std::vector<std::string>& lines, ScreenSize size, std::size_t& drawn) {
  // One line below the picture is left for the cursor. The last column stays empty: a full line
  // would wrap.
  const std::size_t room = std::max<std::size_t>(size.lines, 3) - 1;
  const std::size_t width = std::max<std::size_t>(size.columns, 2) - 1;
  std::vector<std::string> visible = lines;
  if (visible.size() > room) {
    const std::size_t hidden = visible.size() - (room - 1);
    visible.resize(room - 1);
    visible.push_back("… and " + std::to_string(hidden) + " more lines");
  }
  std::string text;
  if (drawn > 0) text = "\r\x1b[" + std::to_string(drawn) + "A";
  for (const std::string& line : visible) text += shortened(line, width) + "\x1b[K\n";
  text += "\x1b[J";
  drawn = visible.size();
  return text;
}

void Screen::draw(const std::vector<std::string>& lines) {
  std::string text;
  if (!is_known_) {
    text = "\x1b[H\x1b[2J";
    drawn_ = 0;
    is_known_ = true;
  }
  text += frame(lines, size_now(), drawn_);
  std::cout << text << std::flush;
}

}  // namespace custodian::cli
