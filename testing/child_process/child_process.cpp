#include "child_process/child_process.hpp"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace custodian::testing {

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments) {
  // The sockets are close-on-exec, so that no child inherits another child's socket. So each child
  // notices the end of this process.
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    throw std::system_error{errno, std::generic_category(), "socketpair"};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], STDOUT_FILENO);

  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int error =
      ::posix_spawn(&process_, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  socket_ = sockets[0];
  if (error != 0) {
    ::close(socket_);
    throw std::system_error{error, std::generic_category(), program};
  }
}

ChildProcess::~ChildProcess() { kill(); }

std::vector<std::string> ChildProcess::listen() {
  std::array<char, 4096> buffer{};
  const ssize_t size = ::read(socket_, buffer.data(), buffer.size());
  if (size < 0 && errno == EINTR) return {};
  if (size <= 0) {
    end();
    return {};
  }
  unread_.append(buffer.data(), static_cast<std::size_t>(size));
  std::vector<std::string> lines;
  for (std::size_t end; (end = unread_.find('\n')) != std::string::npos; unread_.erase(0, end + 1))
    lines.push_back(unread_.substr(0, end));
  return lines;
}

void ChildProcess::tell(const std::string& line) const {
  const std::string message = line + "\n";
  // MSG_NOSIGNAL: no SIGPIPE if the child is gone.
  static_cast<void>(::send(socket_, message.data(), message.size(), MSG_NOSIGNAL));
}

void ChildProcess::send_signal(int signal) const {
  if (process_ > 0) ::kill(process_, signal);
}

void ChildProcess::kill() {
  send_signal(SIGKILL);
  end();
}

std::string ChildProcess::how_it_ended() const {
  if (!wait_status_) return "not known";
  if (WIFSIGNALED(*wait_status_)) return "signal " + std::to_string(WTERMSIG(*wait_status_));
  return "exit status " + std::to_string(WEXITSTATUS(*wait_status_));
}

void ChildProcess::end() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  const pid_t process = std::exchange(process_, -1);
  if (process <= 0) return;
  int status = 0;
  pid_t waited = -1;
  do {
    waited = ::waitpid(process, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited == process) wait_status_ = status;
}

}  // namespace custodian::testing
