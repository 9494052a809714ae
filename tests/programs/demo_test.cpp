// The demo as a program: its account, its history, its help.

#include <fstream>
#include <string>
#include <vector>

#include "program.hpp"
#include "support/catch.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests::demo_test {
namespace {

/// Runs a small and quick demo.
Result run_demo(std::vector<std::string> arguments) {
  const std::vector<std::string> small{"--workers", "4", "--increments", "10",
                                       "--hold",    "0", "--time-limit", "50"};
  arguments.insert(arguments.end(), small.begin(), small.end());
  if (servers_are_foreign()) {
    arguments.insert(arguments.end(), {"--servers", to_string(server_endpoint())});
  } else {
    arguments.insert(arguments.end(), {"--session-timeout", "1000", "--tick", "200"});
  }
  return run(CUSTODIAN_DEMO, arguments);
}

TEST_CASE("the demo's account is right, with a worker killed while it held the lock") {
  const auto [status, output] = run_demo({});
  INFO(output);
  CHECK(status == 0);
  // Worker 2 does three of its ten turns and dies in the fourth.
  CHECK(contains(output, "33 expected, 33 found in the file, 33 in the history"));
  CHECK(contains(output, "ok    take-over"));
  CHECK(contains(output, "All is right."));
}

TEST_CASE("the demo leaves a history that the separate checker confirms") {
  const Directory directory;
  const auto [status, output] = run_demo({"--no-kill", "--directory", directory.file("files")});
  INFO(output);
  CHECK(status == 0);
  const Result check = run(CUSTODIAN_HISTORY_CHECK, {directory.file("files/history")});
  INFO(check.output);
  CHECK(check.status == 0);
  CHECK(contains(check.output, "40 holds, 0 overlaps, 0 out of order, 0 malformed lines"));
}

TEST_CASE("the history checker refuses a history with an overlap, and a file that is not there") {
  const Directory directory;
  const std::string file = directory.file("history");
  std::ofstream{file} << "1 10 /lock-0000000000 100 200\n2 11 /lock-0000000001 199 300\n";
  const Result check = run(CUSTODIAN_HISTORY_CHECK, {file});
  CHECK(check.status == 1);
  CHECK(contains(check.output, "1 overlaps"));
  CHECK(run(CUSTODIAN_HISTORY_CHECK, {directory.file("none")}).status == 2);
}

TEST_CASE("the demo's help is for those who have never seen it, and wrong options are refused") {
  const Result help = run(CUSTODIAN_DEMO, {"--help"});
  CHECK(help.status == 0);
  for (const char* option : {"--workers", "--increments", "--session-timeout", "--servers"})
    CHECK(contains(help.output, option));
  CHECK(run(CUSTODIAN_DEMO, {"--workers", "1"}).status != 0);
}

}  // namespace
}  // namespace custodian::tests::demo_test
