#include "cli/cli_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "guardian/descendants.hpp"
#include "support/test_client.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests {
namespace {

std::vector<std::string> with_servers(const std::vector<std::string>& words) {
  std::vector<std::string> all{"--servers", connect_string()};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

}  // namespace

bool is_running(pid_t process) {
  const auto entry = cli::parse_stat(content_of("/proc/" + std::to_string(process) + "/stat"));
  return entry && !entry->is_zombie;
}

std::string content_of(const std::string& file) {
  std::ostringstream content;
  content << std::ifstream{file}.rdbuf();
  return content.str();
}

void create(const std::string& file) { const std::ofstream empty{file}; }

CliProcess::CliProcess(const std::vector<std::string>& words)
    : CliProcess{CUSTODIAN_CLI, with_servers(words)} {}

CliProcess::CliProcess(const std::string& program, const std::vector<std::string>& words) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  const int flags = O_WRONLY | O_CREAT | O_APPEND;
  ::posix_spawn_file_actions_addopen(&actions, 1, directory_.file("out").c_str(), flags, 0600);
  ::posix_spawn_file_actions_addopen(&actions, 2, directory_.file("err").c_str(), flags, 0600);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> copies{program};
  copies.insert(copies.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int error =
      ::posix_spawnp(&process_, program.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error{"cannot start " + program};
}

CliProcess::~CliProcess() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

void CliProcess::signal(int number) const {
  if (process_ > 0) ::kill(process_, number);
}

bool CliProcess::has_ended() {
  if (process_ < 0) return true;
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) != process_) return false;
  process_ = -1;
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

Ended CliProcess::end() {
  static_cast<void>(eventually([this] { return has_ended(); }));
  return {status_, out(), err()};
}

bool CliProcess::says(const std::string& words) const {
  return eventually([&] { return contains(out() + err(), words); });
}

bool CliProcess::prints(const std::string& words) const {
  return eventually([&] { return contains(out(), words); });
}

}  // namespace custodian::tests
