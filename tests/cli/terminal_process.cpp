#include "terminal_process.hpp"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace custodian::tests {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{30};

}  // namespace

TerminalProcess::TerminalProcess(const std::string& program, const std::vector<std::string>& words,
                                 unsigned short lines, unsigned short columns) {
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  winsize size{.ws_row = lines, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  process_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  if (process_ < 0) throw std::runtime_error{"forkpty"};
  if (process_ == 0) {
    ::execv(program.c_str(), arguments.data());
    std::_Exit(127);
  }
}

TerminalProcess::~TerminalProcess() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ::close(terminal_);
}

bool TerminalProcess::read_more(int milliseconds) {
  pollfd waiting{.fd = terminal_, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, milliseconds) <= 0) return false;
  std::array<char, 4096> bytes{};
  const ssize_t size = ::read(terminal_, bytes.data(), bytes.size());
  if (size <= 0) return false;
  transcript_.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

bool TerminalProcess::shows(const std::string& text) {
  const auto end = Clock::now() + patience;
  for (;;) {
    const auto found = transcript_.find(text, seen_);
    if (found != std::string::npos) {
      seen_ = found + text.size();
      return true;
    }
    if (Clock::now() > end) return false;
    read_more(100);
  }
}

void TerminalProcess::type(const std::string& keys) const {
  if (::write(terminal_, keys.data(), keys.size()) < 0) throw std::runtime_error{"write"};
}

void TerminalProcess::resize(unsigned short lines, unsigned short columns) const {
  const winsize size{.ws_row = lines, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (::ioctl(terminal_, TIOCSWINSZ, &size) != 0) throw std::runtime_error{"TIOCSWINSZ"};
}

int TerminalProcess::end() {
  const auto deadline = Clock::now() + patience;
  int status = 0;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (Clock::now() > deadline) return -1;
    read_more(20);
  }
  while (read_more(0)) {
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace custodian::tests
