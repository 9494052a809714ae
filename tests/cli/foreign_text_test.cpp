/// \file
/// Foreign text on the servers must not control the terminal, and the user's credential must not
/// leak.

#include "cli/cli_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::foreign_text_test {
namespace {

using Words = std::vector<std::string>;

/// The text has direction marks: a terminal that obeys them would show the rest from right to left.
const std::string turned =
    "see \xe2\x80\xae"
    "gpj.ton\xe2\x80\xac\xe2\x81\xa6";

void check_printable(const Ended& ended) {
  INFO(ended.err);
  const std::string all = ended.out + ended.err;
  CHECK(contains(ended.err, "see \\u{202e}gpj.ton\\u{202c}\\u{2066}"));
  CHECK_FALSE(contains(all, "\xe2\x80\xae"));
  CHECK_FALSE(contains(all, "\xe2\x80\xac"));
  CHECK_FALSE(contains(all, "\xe2\x81\xa6"));
}

ClientOptions of_joe(const TestClient& client) {
  ClientOptions options = options_for(connect_string());
  options.name_space = client.root();
  options.credentials = {{.scheme = "digest", .value = "joe:secret"}};
  return options;
}

}  // namespace

TEST_CASE("a name that others have chosen does not command the terminal") {
  TestClient client{"turned"};
  for (const char* path : {"/lock", "/leader", "/permits", "/permits/leases"}) {
    client->create(path);
    client->create(path + ("/" + turned));
  }
  const Words words{"--namespace", client.root()};
  for (const Words& command : {Words{"lock", "/lock"}, Words{"elect", "/leader"},
                               Words{"semaphore", "/permits", "--permits", "2"}}) {
    Words all = words;
    all.insert(all.end(), command.begin(), command.end());
    all.insert(all.end(), {"--", "true"});
    INFO(command.front());
    const Ended ended = run_cli(all);
    CHECK(ended.status == 0);
    check_printable(ended);
  }
}

TEST_CASE("a name that stops a queue is told without commanding the terminal") {
  TestClient client{"turned-queue"};
  client->create("/lock");
  client->create("/lock/" + turned + "-lock-");
  const Ended ended =
      run_cli({"--namespace", client.root(), "lock", "/lock", "--wait", "5s", "--", "true"});
  CHECK(ended.status != 0);
  check_printable(ended);
}

TEST_CASE("the credential is custodian's alone: what it runs does not inherit it") {
  TestClient client{"credential"};
  Client joe{of_joe(client)};
  joe.create("/lock", {}, {.acl = creator_all_acl()});
  REQUIRE(run_cli({"--namespace", client.root(), "lock", "/lock", "--", "true"}).status == 77);
  const std::string script =
      "env; tr '\\0' '\\n' < /proc/$PPID/environ; echo KEPT=$KEPT; "
      "tr '\\0' '\\n' < /proc/$(sed -n 's/^PPid:.//p' /proc/$PPID/status)/environ";
  const Ended ended = CliProcess{
      "env",
      {"KEPT=yes", "CUSTODIAN_AUTH=digest:joe:secret", CUSTODIAN_CLI, "--servers", connect_string(),
       "--namespace", client.root(), "lock", "/lock", "--", "sh", "-c",
       script}}.end();
  INFO(ended.err);
  // The credential was used.
  CHECK(ended.status == 0);
  CHECK(contains(ended.out, "KEPT=yes\n"));
  CHECK_FALSE(contains(ended.out, "secret"));
  // A nested command needs the credential again, from its own command line.
  const std::string nested = "CUSTODIAN_AUTH=digest:joe:secret exec " CUSTODIAN_CLI " --servers " +
                             connect_string() + " --namespace " + client.root() +
                             " lock /lock/inner -- echo both";
  const Ended twice = CliProcess{
      "env",
      {"CUSTODIAN_AUTH=digest:joe:secret", CUSTODIAN_CLI, "--servers", connect_string(),
       "--namespace", client.root(), "lock", "/lock/outer", "--", "sh", "-c",
       nested}}.end();
  CHECK(twice.out == "both\n");
  joe.remove("/lock", {.missing = Missing::is_fine, .descendants = Descendants::are_removed});
}

}  // namespace custodian::tests::foreign_text_test
