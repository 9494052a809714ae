#include "worker_process.hpp"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <system_error>

namespace custodian::demo {

WorkerProcess::WorkerProcess(int number, const std::string& program,
                             const std::vector<std::string>& arguments)
    : number_{number} {
  // Close-on-exec, so that no worker has another one's line: each sees when we are gone.
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw std::system_error{errno, std::generic_category(), "socketpair"};
  }
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

WorkerProcess::~WorkerProcess() {
  if (process_ > 0) ::kill(process_, SIGKILL);
  end();
}

void WorkerProcess::listen() {
  std::array<char, 4096> buffer{};
  const ssize_t size = ::read(socket_, buffer.data(), buffer.size());
  if (size < 0 && errno == EINTR) return;
  if (size <= 0) {
    const bool in_order = end() == 0 && stage_ == Stage::done;
    if (!in_order) stage_ = Stage::failed;
    return;
  }
  unread_.append(buffer.data(), static_cast<std::size_t>(size));
  for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;
       unread_.erase(0, end + 1)) {
    understand(unread_.substr(0, end));
  }
}

void WorkerProcess::understand(const std::string& line) {
  std::istringstream words{line};
  std::string what;
  long value = 0;
  words >> what >> value;
  if (what == "ready") {
    stage_ = Stage::ready;
    timeout_ = std::chrono::milliseconds{value};
  } else if (what == "did") {
    done_ = static_cast<int>(value);
  } else if (what == "inside") {
    stage_ = Stage::inside;
  } else if (what == "done") {
    stage_ = Stage::done;
  }
}

void WorkerProcess::let_begin() const {
  // Without SIGPIPE: that it is gone already shows in listen().
  static_cast<void>(::send(socket_, "\n", 1, MSG_NOSIGNAL));
}

void WorkerProcess::kill() {
  ::kill(process_, SIGKILL);
  end();
  stage_ = Stage::killed;
}

/// Its exit status, or -1.
int WorkerProcess::end() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (process_ <= 0) return -1;
  int status = -1;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace custodian::demo
