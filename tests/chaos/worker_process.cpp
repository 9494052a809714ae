#include "worker_process.hpp"

#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <system_error>
#include <utility>

namespace custodian::chaos {
namespace {

std::string from_hexadecimal(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

}  // namespace

WorkerProcess::WorkerProcess(std::string name, const std::string& program,
                             const std::vector<std::string>& arguments)
    : name_{std::move(name)} {
  // Close-on-exec, so that no worker has another one's line: each sees when we are gone.
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

WorkerProcess::~WorkerProcess() {
  if (process_ > 0) ::kill(process_, SIGKILL);
  end();
}

void WorkerProcess::keep(const std::string& lock) {
  kept_.reset();
  tell("keep " + lock);
}

void WorkerProcess::let_go() { tell("let-go"); }

void WorkerProcess::listen() {
  std::array<char, 4096> buffer{};
  const ssize_t size = ::read(socket_, buffer.data(), buffer.size());
  if (size < 0 && errno == EINTR) return;
  if (size <= 0) {
    end();
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
  std::string lock;
  words >> what;
  if (what == "ready") {
    ready_ = true;
  } else if (what == "granted") {
    std::int64_t token = 0;
    words >> lock >> token;
    std::int64_t& newest = tokens_[lock];
    newest = std::max(newest, token);
    ++grants_;
  } else if (what == "kept") {
    Kept kept;
    std::string password;
    words >> kept.lock >> kept.token >> kept.node >> kept.session >> password;
    kept.password = from_hexadecimal(password);
    kept_ = std::move(kept);
  } else if (what == "lost") {
    std::int64_t token = 0;
    words >> lock >> token;
    lost_.insert(token);
  } else if (what == "done") {
    std::size_t load = 0;
    words >> load;
    load_ = load;
  }
}

void WorkerProcess::tell(const std::string& message) const {
  const std::string line = message + "\n";
  // Without SIGPIPE: that it is gone already shows in listen().
  static_cast<void>(::send(socket_, line.data(), line.size(), MSG_NOSIGNAL));
}

void WorkerProcess::stop() const { ::kill(process_, SIGSTOP); }

void WorkerProcess::resume() const { ::kill(process_, SIGCONT); }

void WorkerProcess::kill() {
  ::kill(process_, SIGKILL);
  end();
}

void WorkerProcess::end() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (process_ <= 0) return;
  int status = -1;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

}  // namespace custodian::chaos
