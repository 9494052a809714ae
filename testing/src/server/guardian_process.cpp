#include "server/guardian_process.hpp"

#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::testing {
namespace {

// This is more than the ten seconds that the guardian gives a program to end.
constexpr std::chrono::seconds patience{20};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

// The environment without LD_PRELOAD, which a test sets only for itself.
std::vector<std::string> environment() {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view{*variable}.starts_with("LD_PRELOAD=")) continue;
    result.emplace_back(*variable);
  }
  return result;
}

// The guardian inherits neither the signal mask of the calling thread nor the ignored signals of
// this process.
void set_default_signals(posix_spawnattr_t& attributes) {
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

}  // namespace

GuardianProcess::GuardianProcess(const std::string& guardian,
                                 const std::vector<std::string>& command) {
  spawn(guardian, command);
  constexpr std::string_view greeting = "directory ";
  std::string line;
  try {
    line = read_line();
    if (!line.starts_with(greeting))
      throw TestingError{"cannot make a temporary directory: " + line};
  } catch (...) {
    close();
    throw;
  }
  directory_ = line.substr(greeting.size());
}

void GuardianProcess::spawn(const std::string& guardian, const std::vector<std::string>& command) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw TestingError{"no socket for the guardian: " + std::generic_category().message(errno)};
  }
  socket_ = ends[0];

  std::vector<std::string> arguments{guardian, std::filesystem::temp_directory_path()};
  arguments.insert(arguments.end(), command.begin(), command.end());
  auto variables = environment();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_default_signals(attributes);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);

  pid_t pid = 0;
  const int error = posix_spawnp(&pid, guardian.c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (error != 0) {
    ::close(socket_);
    throw TestingError{"cannot run the guardian " + guardian + ": " +
                       std::generic_category().message(error)};
  }
  // The guardian detaches at once: this reaps the short-lived first process, unless that was
  // reaped elsewhere.
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

GuardianProcess::~GuardianProcess() { close(); }

void GuardianProcess::close() {
  // End of file makes the guardian clean up. When the guardian has done so, it ends, and this
  // process reads end of file.
  ::shutdown(socket_, SHUT_WR);
  try {
    for (;;) read_line();
  } catch (const TestingError&) {
  }
  ::close(socket_);
  // Nothing is left to do unless the guardian was killed.
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

std::string GuardianProcess::ask(std::string_view command) {
  std::scoped_lock lock{mutex_};
  const std::string line = std::string{command} + "\n";
  if (::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) < 0) {
    throw TestingError{"the server's guardian is gone: " + std::generic_category().message(errno)};
  }
  return read_line();
}

std::string GuardianProcess::read_line() {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (std::string line;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd readable{socket_, POLLIN, 0};
    const int ready = left.count() > 0 ? ::poll(&readable, 1, static_cast<int>(left.count())) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) throw TestingError{"the server's guardian does not answer"};
    char character = 0;
    if (::read(socket_, &character, 1) <= 0) throw TestingError{"the server's guardian is gone"};
    if (character == '\n') return line;
    line += character;
  }
}

}  // namespace custodian::testing
