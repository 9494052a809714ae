#include "cli/terminal_process.hpp"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

#include "support/test_client.hpp"

namespace custodian::tests {
namespace {

winsize window_of(TerminalSize size) {
  return {.ws_row = size.lines, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
}

}  // namespace

TerminalProcess::TerminalProcess(const std::string& program, const std::vector<std::string>& words,
                                 TerminalSize size) {
  std::vector<std::string> copies{program};
  copies.insert(copies.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  const winsize window = window_of(size);
  process_ = ::forkpty(&terminal_, nullptr, nullptr, &window);
  if (process_ == 0) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    ::execvp(argv.front(), argv.data());
    ::_exit(127);
  }
  if (process_ < 0) throw std::runtime_error{"forkpty"};
  ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
  ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
}

TerminalProcess::~TerminalProcess() {
  ::close(terminal_);
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

void TerminalProcess::type(const std::string& keys) const {
  if (::write(terminal_, keys.data(), keys.size()) < 0) throw std::runtime_error{"write"};
}

void TerminalProcess::resize(TerminalSize size) const {
  const winsize window = window_of(size);
  if (::ioctl(terminal_, TIOCSWINSZ, &window) != 0) throw std::runtime_error{"TIOCSWINSZ"};
}

bool TerminalProcess::shows(const std::string& text) {
  return eventually([&] {
    read();
    const auto found = screen_.find(text, seen_);
    if (found == std::string::npos) return false;
    seen_ = found + text.size();
    return true;
  });
}

int TerminalProcess::status() {
  static_cast<void>(eventually([&] {
    // Output that nobody reads could block the process.
    read();
    int status = 0;
    if (process_ < 0 || ::waitpid(process_, &status, WNOHANG) != process_) return process_ < 0;
    process_ = -1;
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
  }));
  read();
  return status_;
}

void TerminalProcess::read() {
  std::array<char, 4096> buffer{};
  for (ssize_t size = 0; (size = ::read(terminal_, buffer.data(), buffer.size())) > 0;) {
    screen_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace custodian::tests
