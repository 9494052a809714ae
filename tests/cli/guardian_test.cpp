/// \file
/// What happens to the command and its descendants when the runner or the guardian is killed; and
/// what the command inherits.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>

#include "cli/cli_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "guardian/descendants.hpp"
#include "support/acquired.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::guardian_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

Words lock_words(const TestClient& client, const std::string& script) {
  return {"--namespace", client.root(), "--session-timeout", "5s", "lock", "/lock", "--", "sh",
          "-c",          script};
}

/// The processes whose ids are in a file. The constructor waits until the file has `count` of them;
/// the destructor kills those that still run.
class Processes : public std::vector<pid_t> {
 public:
  Processes(const std::string& file, std::size_t count) {
    const bool all = eventually([&] {
      clear();
      std::istringstream numbers{content_of(file)};
      for (pid_t number = 0; numbers >> number;) push_back(number);
      return size() == count;
    });
    REQUIRE(all);
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() {
    for (const pid_t process : *this) {
      if (is_running(process)) ::kill(process, SIGKILL);
    }
  }
};

/// A script that makes four processes, and writes their ids into the file: a shell, its child, a
/// child that has left the process group, and a child that has lost its parent.
std::string family(const std::string& file) {
  return "echo $$ >> " + file + "; sleep 1000 & echo $! >> " + file +
         "; setsid sh -c 'echo $$ >> " + file + "; sleep 1000; :' & (sh -c 'echo $$ >> " + file +
         "; trap \"\" TERM HUP; sleep 1000; :' &) ; wait";
}

/// Runs `work` while the system call fails with this error in all processes that `work` starts.
/// Returns false if the system does not allow such a filter.
bool with_failing(unsigned call, int error, const std::function<void()>& work) {
  bool is_had = false;
  // A seccomp filter applies to a thread and its children.
  std::thread{[&] {
    std::array filter{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{filter.size(), filter.data()};
    is_had = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
             ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    if (is_had) work();
  }}.join();
  return is_had;
}

bool none_runs(const std::vector<pid_t>& processes) {
  return std::ranges::none_of(processes, is_running);
}

}  // namespace

TEST_CASE("a runner that is killed leaves nobody behind, before the next one gets in") {
  TestClient client{"killed"};
  const Directory directory;
  const std::string file = directory.file("processes");
  CliProcess killed{lock_words(client, family(file))};
  const Processes processes{file, 4};
  CHECK(std::ranges::all_of(processes, is_running));
  std::string still_there = "for p in";
  for (const pid_t process : processes) still_there += " " + std::to_string(process);
  // The state shows that a zombie does not count as running.
  still_there += "; do grep -s '^State:.[^ZX]' /proc/$p/status && echo $p; done; echo in";
  CliProcess next{lock_words(client, still_there)};
  InterProcessMutex mutex{*client, "/lock"};
  REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
  killed.signal(SIGKILL);
  CHECK(eventually([&] { return none_runs(processes); }, 2s));
  const Ended ended = next.end();
  CHECK(ended.status == 0);
  CHECK(ended.out == "in\n");
}

TEST_CASE("a runner that is killed together with its process group leaves nobody behind") {
  TestClient client{"group"};
  const Directory directory;
  CliProcess killed{lock_words(client, family(directory.file("processes")))};
  const Processes processes{directory.file("processes"), 4};
  ::kill(-killed.id(), SIGKILL);
  CHECK(eventually([&] { return none_runs(processes); }));
}

TEST_CASE("a guardian that is killed costs the command its life, and the lock is let go then") {
  TestClient client{"guardian"};
  const Directory directory;
  CliProcess cli{lock_words(client, family(directory.file("processes")))};
  const Processes processes{directory.file("processes"), 4};
  const auto family_of_cli = cli::descendants(cli.id());
  REQUIRE_FALSE(family_of_cli.empty());
  ::kill(family_of_cli.front().process, SIGKILL);
  const Ended ended = cli.end();
  INFO(ended.err);
  CHECK(ended.status == 70);
  CHECK(none_runs(processes));
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("a guardian that is killed costs the command its life though nobody reads what is said") {
  TestClient client{"guardian-unread"};
  const Directory directory;
  const std::string file = directory.file("processes");
  const std::string full = directory.file("full");
  REQUIRE(::mkfifo(full.c_str(), 0600) == 0);
  const int reader = ::open(full.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  while (::write(reader, "x", 1) == 1) {
  }
  CliProcess cli{"sh",
                 {"-c", "exec " CUSTODIAN_CLI " --servers " + connect_string() + " --namespace " +
                            client.root() + " lock /lock -- sh -c 'sleep 1000 & echo $! >> " +
                            file + "; wait' 2> " + full}};
  const Processes processes{file, 1};
  const auto family_of_cli = cli::descendants(cli.id());
  REQUIRE_FALSE(family_of_cli.empty());
  ::kill(family_of_cli.front().process, SIGKILL);
  CHECK(eventually([&] { return none_runs(processes); }));
  std::array<char, 65536> read_at_last{};
  CHECK(::read(reader, read_at_last.data(), read_at_last.size()) > 0);
  CHECK(cli.end().status == 70);
  ::close(reader);
}

TEST_CASE("that a command may not be signalled is said once, and the lock is held until it ends") {
  TestClient client{"forbidden"};
  std::optional<CliProcess> cli;
  // EPERM is the error for a process of another user.
  const bool is_had = with_failing(
      SYS_kill, EPERM, [&] { cli.emplace(lock_words(client, "echo $$.; exec sleep 1000")); });
  if (!is_had) CUSTODIAN_SKIP("needs a system that allows seccomp filters");
  REQUIRE(cli->prints("."));
  const pid_t command = std::stoi(cli->out());
  cli->signal(SIGHUP);
  cli->signal(SIGTERM);
  const std::string words = "cannot be signalled";
  REQUIRE(cli->says(words));
  CHECK(is_running(command));
  CHECK(names_below(*client, "/lock").size() == 1);
  ::kill(command, SIGUSR1);
  const Ended ended = cli->end();
  CHECK(ended.status == 128 + SIGUSR1);
  CHECK(ended.err.find(words) == ended.err.rfind(words));
}

TEST_CASE("the lock is held until what the command has left in the background has ended") {
  TestClient client{"background"};
  const Directory directory;
  const std::string file = directory.file("processes");
  CliProcess cli{lock_words(client, "(while [ ! -e " + directory.file("go") +
                                        " ]; do sleep 0.02; done) & echo $$ > " + file +
                                        "; exit 5")};
  const Processes command{file, 1};
  REQUIRE(eventually([&] { return none_runs(command); }));
  InterProcessMutex mutex{*client, "/lock"};
  // participants() waits until the client is connected, which try_acquire() would not do.
  CHECK(mutex.participants().size() == 1);
  CHECK_FALSE(acquired(mutex.try_acquire()));
  CHECK_FALSE(cli.has_ended());
  create(directory.file("go"));
  CHECK(cli.end().status == 5);
}

TEST_CASE("a signal reaches what the command has left in the background") {
  TestClient client{"background-signal"};
  const Directory directory;
  const std::string file = directory.file("processes");
  CliProcess cli{
      lock_words(client, "setsid sleep 1000 & echo $! > " + file + "; echo $$ >> " + file)};
  const Processes processes{file, 2};
  REQUIRE(eventually([&] { return !is_running(processes[1]); }));
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 0);
  CHECK_FALSE(is_running(processes[0]));
}

TEST_CASE("the command inherits the three standard descriptors, and no other") {
  TestClient client{"descriptors"};
  // The descriptor lacks O_CLOEXEC on purpose, so that the runner inherits it.
  const int stray = ::open("/dev/null", O_RDONLY);
  CliProcess cli{lock_words(client, "ls /proc/$$/fd; :")};
  const Ended ended = cli.end();
  ::close(stray);
  CHECK(ended.out == "0\n1\n2\n");
}

TEST_CASE("where descriptors cannot be closed all at once, they are closed one by one") {
  const int stray = ::open("/dev/null", O_RDONLY);
  // These are the errors of a system without this call, and of a sandbox that forbids it.
  for (const int error : {ENOSYS, EPERM}) {
    TestClient client{"no-close-range"};
    Ended listing;
    std::optional<CliProcess> killed;
    const bool is_had = with_failing(SYS_close_range, error, [&] {
      listing = CliProcess{lock_words(client, "ls /proc/$$/fd; :")}.end();
      // The session is longer than the wait below, so the end of the session cannot end the
      // command: the guardian must notice that the runner is gone.
      auto words = lock_words(client, "echo $$.; exec sleep 1000");
      words[3] = "60s";
      killed.emplace(words);
    });
    if (!is_had) CUSTODIAN_SKIP("needs a system that allows seccomp filters");
    CHECK(listing.out == "0\n1\n2\n");
    REQUIRE(killed->prints("."));
    const pid_t command = std::stoi(killed->out());
    killed->signal(SIGKILL);
    CHECK(eventually([&] { return !is_running(command); }));
  }
  ::close(stray);
}

TEST_CASE("who kills by the name of custodian does not meet its guardian") {
  TestClient client{"name"};
  CliProcess cli{lock_words(client, "echo in; exec sleep 1000")};
  REQUIRE(cli.says("in"));
  const auto name_of = [](pid_t process) {
    return content_of("/proc/" + std::to_string(process) + "/comm");
  };
  CHECK(name_of(cli.id()) == "custodian\n");
  CHECK_FALSE(contains(name_of(cli::descendants(cli.id()).front().process), "custodian"));
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 128 + SIGTERM);
}

TEST_CASE("what was closed when it was started is no socket for the command") {
  TestClient client{"closed"};
  const Directory directory;
  CliProcess cli{"sh",
                 {"-c", "exec " CUSTODIAN_CLI " --servers " + connect_string() + " --namespace " +
                            client.root() + " lock /lock -- sh -c 'ls -l /proc/$$/fd > " +
                            directory.file("list") + "; :' <&- 2>&-"}};
  CHECK(cli.end().status == 0);
  const std::string list = content_of(directory.file("list"));
  INFO(list);
  CHECK(contains(list, "0 -> /dev/null"));
  CHECK(contains(list, "2 -> /dev/null"));
  CHECK_FALSE(contains(list, "socket"));
}

TEST_CASE("the command has the signal mask and the dispositions that the runner was started with") {
  TestClient client{"dispositions"};
  // Seven digits are the signals up to 28. The C library uses two of the signals beyond the
  // standard ones itself.
  const std::string print = R"(sed -nE "s/^Sig(Blk|Ign|Cgt):.*(.{7})\$/\1 \2/p" /proc/self/status)";
  const auto with_usr2_ignored = [](const std::string& command) {
    return CliProcess{"sh", {"-c", "trap '' USR2 PIPE; exec " + command}}.end();
  };
  const Ended alone = with_usr2_ignored("sh -c 'exec " + print + "'");
  const Ended under =
      with_usr2_ignored(CUSTODIAN_CLI " --servers " + connect_string() + " --namespace " +
                        client.root() + " lock /lock -- sh -c 'exec " + print + "'");
  CHECK(contains(alone.out, "Ign 0001800"));
  CHECK(under.out == alone.out);
}

}  // namespace custodian::tests::guardian_test
