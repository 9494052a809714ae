/// \file
/// `custodian member`: the command runs as a member of a group.

#include <csignal>

#include "cli/cli_process.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::member_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

const std::string work = "echo works.; trap 'exit 7' TERM; while :; do sleep 0.02; done";

Words member_words(const TestClient& client, const Words& options, const std::string& script) {
  Words words{"--namespace", client.root(), "member", "/fleet"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "sh", "-c", script});
  return words;
}

}  // namespace

TEST_CASE("a command is a member while it runs, and its environment says of what") {
  TestClient client{"member"};
  CliProcess cli{member_words(client, {"--id", "w1", "--payload", "10.0.0.1"},
                              "echo $CUSTODIAN_GROUP_PATH $CUSTODIAN_MEMBER_ID"
                              " ${CUSTODIAN_LOCK_PATH-none}; " +
                                  work)};
  REQUIRE(cli.says("works."));
  const GetResult member = client->get("/fleet/w1");
  CHECK(member.data == "10.0.0.1");
  CHECK(member.stat.ephemeral_owner != 0);
  CHECK(contains(cli.out(), "/fleet w1 none\n"));
  cli.signal(SIGTERM);
  const Ended ended = cli.end();
  CHECK(ended.status == 7);
  CHECK_FALSE(contains(ended.err, "custodian:"));
  CHECK(names_below(*client, "/fleet").empty());
}

TEST_CASE("a member's command that ends by itself leaves the group, with its status") {
  TestClient client{"member-status"};
  CHECK(run_cli(member_words(client, {}, "exit 3")).status == 3);
  CHECK(names_below(*client, "/fleet").empty());
}

TEST_CASE("a member without an id is known by its host and process") {
  TestClient client{"member-id"};
  CliProcess cli{member_words(client, {}, work)};
  REQUIRE(cli.says("works."));
  const auto names = names_below(*client, "/fleet");
  REQUIRE(names.size() == 1);
  CHECK(names.front().ends_with("-" + std::to_string(cli.id())));
}

TEST_CASE("a member stays until what its command has left in the background has ended") {
  TestClient client{"member-background"};
  const Directory directory;
  const std::string stop = directory.file("stop");
  CliProcess cli{member_words(client, {"--id", "w1"},
                              "(while [ ! -e " + stop + " ]; do sleep 0.02; done) & echo left.")};
  REQUIRE(cli.says("left."));
  REQUIRE(cli.says("the command has ended, but not all that it has started"));
  CHECK(client->exists("/fleet/w1"));
  create(stop);
  CHECK(cli.end().status == 0);
  CHECK_FALSE(client->exists("/fleet/w1"));
}

TEST_CASE("a member that is deleted joins again, and its command goes on") {
  TestClient client{"member-deleted"};
  CliProcess cli{member_words(client, {"--id", "w1"}, work)};
  REQUIRE(cli.says("works."));
  client->remove("/fleet/w1");
  REQUIRE(eventually([&] { return client->exists("/fleet/w1").has_value(); }));
  CHECK_FALSE(cli.has_ended());
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 7);
}

TEST_CASE("a member whose session is lost says so, joins again, and its command goes on") {
  testing::TestingServer server;
  TestClient client{"member-lost", server.connect_string(), 60s};
  CliProcess cli{
      CUSTODIAN_CLI,
      {"--servers", server.connect_string(), "--namespace", client.root(), "--session-timeout",
       "6s", "member", "/fleet", "--id", "w1", "--", "sh", "-c", work}};
  REQUIRE(cli.says("works."));
  const std::int64_t session = client->get("/fleet/w1").stat.ephemeral_owner;
  // While the process stands still its session ends.
  cli.signal(SIGSTOP);
  REQUIRE(eventually([&] { return !client->exists("/fleet/w1"); }));
  cli.signal(SIGCONT);
  REQUIRE(cli.says("w1 is a member again"));
  CHECK(contains(cli.err(), "w1 is no member at the moment: the command goes on"));
  CHECK(client->get("/fleet/w1").stat.ephemeral_owner != session);
  CHECK_FALSE(cli.has_ended());
  cli.signal(SIGTERM);
  CHECK(cli.end().status == 7);
}

TEST_CASE("a member whose id is another's waits for it, or takes its place") {
  TestClient client{"member-twice"};
  CliProcess one{member_words(client, {"--id", "w1", "--payload", "one"}, work)};
  REQUIRE(one.says("works."));
  const Ended late = run_cli(member_words(client, {"--id", "w1", "--wait", "300ms"}, work));
  CHECK(late.status == 75);
  CHECK(late.out.empty());
  CHECK(contains(late.err, "another session has the member /fleet/w1"));
  CHECK(contains(late.err, "/fleet was not had in time"));

  CliProcess patient{member_words(client, {"--id", "w1"}, work)};
  REQUIRE(patient.says("another session has the member"));
  patient.signal(SIGINT);
  CHECK(patient.end().status == 130);
  CHECK(client->get("/fleet/w1").data == "one");

  CliProcess two{member_words(client, {"--id", "w1", "--payload", "two", "--take-over"}, work)};
  REQUIRE(two.says("works."));
  CHECK(client->get("/fleet/w1").data == "two");
  REQUIRE(one.says("another session has the member"));
  CHECK_FALSE(one.has_ended());
  two.signal(SIGTERM);
  CHECK(two.end().status == 7);
  REQUIRE(one.says("w1 is a member again"));
  CHECK(client->get("/fleet/w1").data == "one");
}

TEST_CASE("a member that may not join says so, and runs nothing") {
  TestClient client{"member-refused"};
  client->create("/fleet", "", {.acl = read_acl()});
  const Ended refused = run_cli(member_words(client, {}, work));
  INFO(refused.err);
  CHECK(refused.status == 77);
  CHECK(refused.out.empty());
  CHECK(contains(refused.err, "the servers do not permit it"));
}

TEST_CASE("member names a mistake in the command line, and servers that do not answer") {
  TestClient client{"member-mistakes"};
  CHECK(run_cli({"member", "/fleet"}).status == 64);
  CHECK(run_cli({"member", "fleet", "--", "true"}).status == 64);
  CHECK(run_cli(member_words(client, {"--id", "a/b"}, work)).status == 64);
  CHECK(run_cli(member_words(client, {"--on-lost", "kill"}, work)).status == 64);
  CHECK(run_cli({"--namespace", client.root(), "member", "/fleet", "--", "/no/such"}).status ==
        127);
  CliProcess alone{
      CUSTODIAN_CLI,
      {"--servers", "127.0.0.1:1", "member", "/fleet", "--wait", "300ms", "--", "true"}};
  CHECK(alone.end().status == 69);
}

}  // namespace custodian::tests::member_test
