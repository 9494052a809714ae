/// \file
/// `custodian elect`: the command runs on the leader.

#include <csignal>
#include <fstream>

#include "cli/cli_process.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::elect_test {
namespace {

using Words = std::vector<std::string>;

Words elect_words(const TestClient& client, const std::string& id, const std::string& script) {
  return {"--namespace", client.root(), "elect", "/leader", "--id", id, "--", "sh", "-c", script};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

const std::string work = "trap 'echo over; exit 0' TERM; echo leads.; while :; do sleep 0.02; done";

}  // namespace

TEST_CASE("the command runs with whoever leads, and with the next one when that has gone") {
  TestClient client{"elect"};
  CliProcess one{elect_words(client, "one", work)};
  REQUIRE(one.says("leads."));
  CliProcess two{elect_words(client, "two", work)};
  LeaderLatch bystander{*client, "/leader"};
  REQUIRE(eventually([&] { return bystander.participants().size() == 2; }));
  const auto leader = bystander.leader();
  REQUIRE(leader);
  CHECK(leader->identity == "one");
  CHECK(two.out().empty());
  one.signal(SIGTERM);
  const Ended ended = one.end();
  CHECK(ended.status == 0);
  CHECK(ended.out == "leads.\nover\n");
  REQUIRE(two.says("leads."));
  two.signal(SIGTERM);
  CHECK(two.end().status == 0);
  CHECK(eventually([&] { return names_below(*client, "/leader").empty(); }));
}

TEST_CASE("a command that ends by itself ends the election, with its status") {
  TestClient client{"elect-status"};
  CHECK(run_cli(elect_words(client, "one", "exit 7")).status == 7);
  CHECK(eventually([&] { return names_below(*client, "/leader").empty(); }));
}

TEST_CASE("a candidate that is asked to end leaves the election, and never ran") {
  TestClient client{"elect-waiting"};
  LeaderLatch latch{*client, "/leader"};
  latch.start();
  const Lease leadership = latch.wait();
  CliProcess cli{elect_words(client, "one", work)};
  REQUIRE(eventually([&] { return latch.participants().size() == 2; }));
  cli.signal(SIGINT);
  const Ended ended = cli.end();
  CHECK(ended.status == 130);
  CHECK(ended.out.empty());
  CHECK(eventually([&] { return latch.participants().size() == 1; }));
}

TEST_CASE("a leader that loses the leadership ends its command, stands again, and leads again") {
  TestClient client{"elect-again"};
  Words words = elect_words(client, "one", work);
  // A long session leaves some seconds between the request to end and the kill.
  words.insert(words.begin(), {"--session-timeout", "60s"});
  CliProcess cli{words};
  REQUIRE(cli.says("leads."));
  for (const std::string& name : names_below(*client, "/leader")) {
    client->remove("/leader/" + name);
  }
  REQUIRE(eventually([&] { return count(cli.out(), "leads.") == 2; }));
  CHECK(cli.out() == "leads.\nover\nleads.\n");
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 0);
}

TEST_CASE("candidates with a term lead in turn, and never two at once") {
  TestClient client{"elect-term"};
  const Directory directory;
  // The script checks that the previous leader's process is gone; a zombie counts as gone.
  const std::string script = "cd " + directory.file("") +
                             "; p=$(cat last); grep -qs '^State:.[^ZX]' /proc/$p/status &&"
                             " echo two at once; echo $$ > last; echo leads.;"
                             " trap '' TERM; while :; do sleep 0.02; done";
  std::ofstream{directory.file("last")} << "none\n";
  const auto words = [&](const std::string& id) {
    Words all = elect_words(client, id, script);
    all.insert(all.begin() + 4, {"--hold-at-most", "300ms"});
    return all;
  };
  CliProcess one{words("one")};
  CliProcess two{words("two")};
  REQUIRE(
      eventually([&] { return count(one.out(), "leads.") > 1 && count(two.out(), "leads.") > 1; }));
  CHECK_FALSE(contains(one.out() + two.out(), "two at once"));
}

}  // namespace custodian::tests::elect_test
