/// \file
/// `custodian lock` on a terminal: Ctrl-C, Ctrl-Z, and a command that reads.

#include <csignal>

#include "cli/cli_process.hpp"
#include "cli/terminal_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "guardian/descendants.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::terminal_test {
namespace {

using Words = std::vector<std::string>;

/// The text `custodian lock <path> <options> --`, to be typed on a terminal.
std::string typed_lock(const TestClient& client, const std::string& path,
                       const std::string& options = "") {
  return CUSTODIAN_CLI " --servers " + connect_string() + " --namespace " + client.root() +
         " lock " + path + " " + options + " -- ";
}

Words lock_words(const TestClient& client, const std::string& script) {
  return {"--servers",   connect_string(),
          "--namespace", client.root(),
          "lock",        "/lock",
          "--",          "sh",
          "-c",          script};
}

/// The text of `custodian lock /lock` with a script, to be typed on a terminal.
std::string typed(const TestClient& client, const std::string& script,
                  const std::string& options = "") {
  return typed_lock(client, "/lock", options) + "sh -c '" + script + "'";
}

/// Waits until the screen shows a process's id as "<id>.", and returns the id.
pid_t process_on(TerminalProcess& terminal) {
  REQUIRE(terminal.shows(".\r\n"));
  const std::string& screen = terminal.screen();
  const auto end = screen.rfind(".\r\n");
  const auto begin = screen.find_last_not_of("0123456789", end - 1) + 1;
  return std::stoi(screen.substr(begin, end - begin));
}

bool is_stopped(pid_t process) {
  return contains(content_of("/proc/" + std::to_string(process) + "/stat"), ") T ");
}

bool exists(pid_t process) { return ::kill(process, 0) == 0; }

pid_t parent_of(pid_t process) {
  const auto entry = cli::parse_stat(content_of("/proc/" + std::to_string(process) + "/stat"));
  REQUIRE(entry);
  return entry->parent;
}

/// The runner is the process for which the shell waits, and the guardian's parent.
pid_t runner_of(pid_t command) { return parent_of(parent_of(command)); }

bool is_guardian(pid_t process) {
  return content_of("/proc/" + std::to_string(process) + "/comm") == "lock-guardian\n";
}

/// A shell with job control, as a person uses it.
struct Shell : TerminalProcess {
  Shell() : TerminalProcess{"bash", {"--norc", "--noprofile", "--noediting", "-i"}} {
    // The terminal echoes this line, so the prompt is split in it: the echo must not be taken for
    // the prompt.
    type("PS1='rea''dy> '; stty -echo\r");
    REQUIRE(shows("ready> "));
  }
};

/// Asks twice: a shell that loses the terminal while it reads is stopped only by its next read.
bool answers(Shell& shell) {
  shell.type("echo still $((40 + 2))\r");
  if (!shell.shows("still 42")) return false;
  shell.type("echo again $((40 + 3))\r");
  return shell.shows("again 43");
}

}  // namespace

TEST_CASE("Ctrl-C while it waits ends the wait and leaves no node") {
  TestClient client{"ctrl-c-waiting"};
  InterProcessMutex mutex{*client, "/lock"};
  const Lease lease = mutex.acquire();
  TerminalProcess cli{CUSTODIAN_CLI, lock_words(client, "echo ran")};
  REQUIRE(eventually([&] { return mutex.participants().size() == 2; }));
  cli.type(ctrl_c);
  CHECK(cli.status() == 130);
  CHECK_FALSE(contains(cli.screen(), "ran"));
  CHECK(eventually([&] { return mutex.participants().size() == 1; }));
}

TEST_CASE("Ctrl-C while it holds reaches the command, whose status tells") {
  TestClient client{"ctrl-c-holding"};
  TerminalProcess killed{CUSTODIAN_CLI, lock_words(client, "echo inside; exec sleep 1000")};
  REQUIRE(killed.shows("inside"));
  killed.type(ctrl_c);
  CHECK(killed.status() == 130);
  TerminalProcess trapped{
      CUSTODIAN_CLI,
      lock_words(client, "trap 'exit 9' INT; echo inside; while :; do sleep 0.02; done")};
  REQUIRE(trapped.shows("inside"));
  trapped.type(ctrl_c);
  CHECK(trapped.status() == 9);
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

TEST_CASE("a command may read from the terminal, and then Ctrl-C is its own") {
  TestClient client{"reading"};
  TerminalProcess cli{CUSTODIAN_CLI,
                      lock_words(client,
                                 "trap 'exit 9' INT; echo inside; read one; echo got $one;"
                                 "read two; echo got $two; while :; do sleep 0.02; done")};
  REQUIRE(cli.shows("inside"));
  cli.type("first\r");
  REQUIRE(cli.shows("got first"));
  cli.type("second\r");
  REQUIRE(cli.shows("got second"));
  cli.type(ctrl_c);
  CHECK(cli.status() == 9);
}

// The command must not be a script that starts programs in a loop, since a shell cannot be stopped
// within vfork().
TEST_CASE("Ctrl-Z gives the shell back, and fg lets the command go on") {
  TestClient client{"ctrl-z"};
  Shell shell;
  shell.type(typed(client, "echo $$.; exec sleep 1000") + "\r");
  const pid_t command = process_on(shell);
  shell.type(ctrl_z);
  REQUIRE(shell.shows("Stopped"));
  CHECK(is_stopped(command));
  REQUIRE(shell.shows("ready> "));
  shell.type("fg\r");
  REQUIRE(eventually([&] { return !is_stopped(command); }));
  CHECK(is_running(command));
  shell.type(ctrl_c);
  REQUIRE(shell.shows("ready> "));
  CHECK_FALSE(is_running(command));
  shell.type("echo status $?\r");
  CHECK(shell.shows("status 130"));
}

TEST_CASE("Ctrl-Z and fg with a command that has the terminal, and reads on") {
  TestClient client{"ctrl-z-reading"};
  Shell shell;
  shell.type(typed(client, "echo $$.; read one; echo got $one; read two; echo got $two; exit 6") +
             "\r");
  const pid_t command = process_on(shell);
  shell.type("first\r");
  REQUIRE(shell.shows("got first"));
  shell.type(ctrl_z);
  const bool stopped = shell.shows("Stopped");
  INFO(shell.screen());
  REQUIRE(stopped);
  CHECK(is_stopped(command));
  REQUIRE(shell.shows("ready> "));
  shell.type("fg\r");
  REQUIRE(eventually([&] { return !is_stopped(command); }));
  shell.type("second\r");
  REQUIRE(shell.shows("got second"));
  REQUIRE(shell.shows("ready> "));
  shell.type("echo status $?\r");
  CHECK(shell.shows("status 6"));
}

TEST_CASE(
    "a command that has the terminal, and suspends itself as editors do, gives the shell back") {
  TestClient client{"suspends-itself"};
  Shell shell;
  shell.type(typed(client,
                   "echo $$.; read one; echo got $one; kill -STOP 0; echo back; read two;"
                   "echo got $two; exit 6") +
             "\r");
  const pid_t command = process_on(shell);
  shell.type("first\r");
  REQUIRE(shell.shows("got first"));
  const bool stopped = shell.shows("Stopped");
  INFO(shell.screen());
  REQUIRE(stopped);
  CHECK(is_stopped(command));
  REQUIRE(shell.shows("ready> "));
  REQUIRE(answers(shell));
  shell.type("fg\r");
  REQUIRE(shell.shows("back"));
  shell.type("second\r");
  REQUIRE(shell.shows("got second"));
  REQUIRE(shell.shows("ready> "));
  shell.type("echo status $?\r");
  CHECK(shell.shows("status 6"));
}

TEST_CASE("a command that somebody stops by SIGSTOP is stopped alone if it has no terminal") {
  TestClient client{"stopped-alone"};
  const Directory directory;
  Shell shell;
  shell.type(
      typed(client, "echo $$.; while [ ! -e " + directory.file("go") + " ]; do :; done; exit 6") +
      "\r");
  const pid_t command = process_on(shell);
  ::kill(command, SIGSTOP);
  REQUIRE(eventually([&] { return is_stopped(command); }));
  create(directory.file("go"));
  ::kill(command, SIGCONT);
  REQUIRE(shell.shows("ready> "));
  shell.type("echo status $?\r");
  CHECK(shell.shows("status 6"));
}

TEST_CASE("Ctrl-Z gives the shell back, too, when only what the command has left behind runs") {
  TestClient client{"ctrl-z-left"};
  Shell shell;
  shell.type(typed(client, "sleep 1000 & echo $!.") + "\r");
  const pid_t left = process_on(shell);
  // Once the shell has ended, the process is the guardian's only child.
  REQUIRE(eventually([&] {
    const pid_t parent = parent_of(left);
    return is_guardian(parent) && cli::descendants(parent).size() == 1;
  }));
  shell.type(ctrl_z);
  const bool stopped = shell.shows("Stopped");
  INFO(shell.screen());
  REQUIRE(stopped);
  REQUIRE(eventually([&] { return is_stopped(left); }));
  REQUIRE(answers(shell));
  shell.type("fg\r");
  REQUIRE(eventually([&] { return !is_stopped(left); }));
  CHECK(is_running(left));
  ::kill(left, SIGTERM);
  shell.type("echo status $?\r");
  CHECK(shell.shows("status 0"));
}

TEST_CASE("what a command has left behind is refused the terminal, not held up") {
  TestClient client{"left-reading"};
  Shell shell;
  // This process is in the command's group, and outlives the command.
  shell.type(typed(client,
                   "(while kill -0 $$; do :; done 2> /dev/null; exec < /dev/tty;"
                   R"(read one || echo refu""sed.) &)") +
             "\r");
  const bool refused = shell.shows("refused.");
  INFO(shell.screen());
  REQUIRE(refused);
  CHECK(shell.shows("ready> "));
}

TEST_CASE("what waits for the terminal already when the command ends is refused it, too") {
  TestClient client{"left-waiting"};
  const Directory directory;
  Shell shell;
  const auto wait_for = [&](const std::string& file) {
    return "while [ ! -e " + directory.file(file) + " ]; do :; done; ";
  };
  // This background job of a shell has a group of its own, and has lost its parent.
  shell.type(typed(client, "set -m; (sh -c \"" + wait_for("read") +
                               R"(exec < /dev/tty; read one || echo refu\"\"sed." & echo $!.); )" +
                               R"(echo o""n; )" + wait_for("end")) +
             "\r");
  const pid_t left = process_on(shell);
  REQUIRE(shell.shows("on\r\n"));
  REQUIRE(eventually([&] { return is_guardian(parent_of(left)); }));
  create(directory.file("read"));
  REQUIRE(eventually([&] { return is_stopped(left); }));
  create(directory.file("end"));
  const bool refused = shell.shows("refused.");
  INFO(shell.screen());
  REQUIRE(refused);
  CHECK(shell.shows("ready> "));
}

TEST_CASE("a job that is stopped for too long loses its lock, and the shell keeps the terminal") {
  TestClient client{"ctrl-z-too-long"};
  Shell shell;
  shell.type(typed(client, "echo $$.; read one; echo got $one; read two", "--session-timeout 5s") +
             "\r");
  const pid_t command = process_on(shell);
  shell.type("first\r");
  REQUIRE(shell.shows("got first"));
  shell.type(ctrl_z);
  REQUIRE(shell.shows("ready> "));
  REQUIRE(eventually([&] { return !is_running(command); }));
  REQUIRE(answers(shell));
  shell.type("fg\r");
  REQUIRE(shell.shows("ready> "));
  shell.type("echo status $?\r");
  CHECK(shell.shows("status 70"));
}

TEST_CASE(
    "a job that reads goes on in the background until it reads, and the shell keeps the terminal") {
  TestClient client{"bg"};
  const Directory directory;
  Shell shell;
  shell.type(typed(client, "echo $$.; read one; echo got $one; while [ ! -e " +
                               directory.file("go") + " ]; do :; done; read two; echo got $two") +
             "\r");
  const pid_t command = process_on(shell);
  shell.type("first\r");
  REQUIRE(shell.shows("got first"));
  shell.type(ctrl_z);
  REQUIRE(shell.shows("ready> "));
  shell.type("bg\r");
  REQUIRE(eventually([&] { return !is_stopped(command); }));
  create(directory.file("go"));
  REQUIRE(eventually([&] { return is_stopped(runner_of(command)); }));
  REQUIRE(answers(shell));
  shell.type("fg\r");
  REQUIRE(eventually([&] { return !is_stopped(command); }));
  shell.type("second\r");
  const bool got = shell.shows("got second");
  INFO(shell.screen());
  CHECK(got);
}

TEST_CASE(
    "a shell that has taken the terminal from a stopped runner keeps it when the command ends") {
  TestClient client{"taken"};
  Shell shell;
  shell.type(typed(client, "echo $$.; read one; echo got $one; exec sleep 1000") + "\r");
  const pid_t command = process_on(shell);
  shell.type("first\r");
  REQUIRE(shell.shows("got first"));
  ::kill(runner_of(command), SIGSTOP);
  REQUIRE(shell.shows("ready> "));
  ::kill(command, SIGTERM);
  REQUIRE(eventually([&] { return !exists(command); }));
  REQUIRE(answers(shell));
  shell.type("fg\r");
  REQUIRE(shell.shows("ready> "));
  shell.type("echo status $?\r");
  CHECK(shell.shows("status 143"));
}

TEST_CASE("a custodian under a custodian lends the terminal on") {
  TestClient client{"nested"};
  Shell shell;
  shell.type(typed_lock(client, "/outer") +
             typed(client, "echo $$.; read one; echo got $one; read two; echo got $two; exit 6") +
             "\r");
  const pid_t command = process_on(shell);
  shell.type("first\r");
  REQUIRE(shell.shows("got first"));
  shell.type(ctrl_z);
  REQUIRE(shell.shows("Stopped"));
  REQUIRE(shell.shows("ready> "));
  shell.type("fg\r");
  REQUIRE(eventually([&] { return !is_stopped(command); }));
  shell.type("second\r");
  REQUIRE(shell.shows("got second"));
  REQUIRE(shell.shows("ready> "));
  shell.type("echo status $?\r");
  CHECK(shell.shows("status 6"));
}

// Without custodian it is the same: a read fails if no shell could continue the command.
TEST_CASE(
    "a command in the background that no shell looks after is refused the terminal, not held up") {
  TestClient client{"orphaned"};
  Shell shell;
  shell.type("(" + typed(client, R"(echo in""side; exec < /dev/tty; read one || echo refu""sed.)") +
             " &)\r");
  REQUIRE(shell.shows("inside"));
  REQUIRE(shell.shows("refused."));
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
  CHECK(answers(shell));
}

TEST_CASE("a job in the background that wants to read is stopped as the shell's own is") {
  TestClient client{"background-reading"};
  Shell shell;
  shell.type(typed(client, "echo $$.; read one; echo got $one") + " &\r");
  const pid_t command = process_on(shell);
  REQUIRE(eventually([&] { return is_stopped(runner_of(command)); }));
  REQUIRE(answers(shell));
  shell.type("fg\r");
  REQUIRE(eventually([&] { return !is_stopped(command); }));
  shell.type("first\r");
  const bool got = shell.shows("got first");
  INFO(shell.screen());
  CHECK(got);
}

TEST_CASE("a pipeline is ended by Ctrl-C as a whole") {
  TestClient client{"pipeline"};
  Shell shell;
  shell.type(typed(client, "echo $$.; while :; do sleep 0.02; done") + " | cat\r");
  const pid_t command = process_on(shell);
  shell.type(ctrl_c);
  REQUIRE(shell.shows("ready> "));
  CHECK(eventually([&] { return !is_running(command); }));
  CHECK(eventually([&] { return names_below(*client, "/lock").empty(); }));
}

}  // namespace custodian::tests::terminal_test
