/// \file
/// A program whose execution takes long to begin, as on a slow file server. Meanwhile the lock may
/// be lost, the runner may be killed, or a signal may arrive.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "cli/cli_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "guardian/descendants.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::slow_exec_test {
namespace {

using namespace std::chrono_literals;

/// A script whose execution begins only when the test allows it: the test holds a kernel lease on
/// the file, so that open() waits (at most 45 s, /proc/sys/fs/lease-break-time).
class SlowProgram {
 public:
  SlowProgram() : path_{directory_.file("program")} {
    std::ofstream{path_} << "#!/bin/sh\necho it runs\n";
    ::chmod(path_.c_str(), 0700);
    file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    // The kernel notifies the lease's owner by a signal, which by default ends the process.
    ::fcntl(file_, F_SETSIG, SIGURG);
    is_held_ = ::fcntl(file_, F_SETLEASE, F_WRLCK) == 0;
  }
  SlowProgram(const SlowProgram&) = delete;
  SlowProgram& operator=(const SlowProgram&) = delete;
  ~SlowProgram() { ::close(file_); }

  /// Returns whether the test holds the lease. A file system without leases gives none.
  [[nodiscard]] bool is_held() const { return is_held_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  void let_go() const { ::fcntl(file_, F_SETLEASE, F_UNLCK); }

 private:
  Directory directory_;
  std::string path_;
  int file_ = -1;
  bool is_held_ = false;
};

CliProcess lock_under(const TestClient& client, const SlowProgram& program) {
  return CliProcess{{"--namespace", client.root(), "--session-timeout", "5s", "lock", "/lock", "--",
                     program.path()}};
}

/// Waits until the process that is to become the command waits in execve() for its program. Returns
/// its id.
pid_t beginner_of(const CliProcess& runner) {
  pid_t beginner = 0;
  const bool is_there = eventually([&] {
    const auto family = cli::descendants(runner.id());
    if (family.size() != 2) return false;
    beginner = family.back().process;
    // In this phase the process sleeps only within execve().
    return contains(content_of("/proc/" + std::to_string(beginner) + "/stat"), ") S ");
  });
  REQUIRE(is_there);
  return beginner;
}

}  // namespace

TEST_CASE("a lock that is lost before its program is executed costs the command its beginning") {
  TestClient client{"slow-loss"};
  const SlowProgram program;
  if (!program.is_held()) CUSTODIAN_SKIP("needs a file system with leases");
  CliProcess cli = lock_under(client, program);
  const pid_t beginner = beginner_of(cli);
  InterProcessMutex mutex{*client, "/lock"};
  const auto holders = mutex.participants();
  REQUIRE(holders.size() == 1);
  client->remove(holders[0].node);
  CHECK(eventually([&] { return !is_running(beginner); }, 10s));
  const Ended ended = cli.end();
  INFO(ended.err);
  CHECK(ended.status == 70);
  CHECK(ended.out.empty());
}

TEST_CASE("a runner that is killed before its program is executed leaves nobody behind") {
  TestClient client{"slow-kill"};
  const SlowProgram program;
  if (!program.is_held()) CUSTODIAN_SKIP("needs a file system with leases");
  CliProcess cli = lock_under(client, program);
  const pid_t beginner = beginner_of(cli);
  const pid_t guardian = cli::descendants(cli.id()).front().process;
  cli.signal(SIGKILL);
  CHECK(eventually([&] { return !is_running(beginner); }, 10s));
  CHECK(eventually([&] { return !is_running(guardian); }, 10s));
}

TEST_CASE("a signal reaches a command whose program is not executed yet") {
  TestClient client{"slow-signal"};
  const SlowProgram program;
  if (!program.is_held()) CUSTODIAN_SKIP("needs a file system with leases");
  CliProcess cli = lock_under(client, program);
  const pid_t beginner = beginner_of(cli);
  cli.signal(SIGTERM);
  CHECK(eventually([&] { return !is_running(beginner); }, 10s));
  const Ended ended = cli.end();
  INFO(ended.err);
  CHECK(ended.status == 128 + SIGTERM);
  CHECK(ended.out.empty());
}

TEST_CASE("a program that is executed late runs as any other") {
  TestClient client{"slow-start"};
  const SlowProgram program;
  if (!program.is_held()) CUSTODIAN_SKIP("needs a file system with leases");
  CliProcess cli = lock_under(client, program);
  static_cast<void>(beginner_of(cli));
  program.let_go();
  const Ended ended = cli.end();
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.out == "it runs\n");
}

}  // namespace custodian::tests::slow_exec_test
