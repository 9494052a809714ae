// Options of `custodian lock` about its session, its nodes, and requests for the lock.

#include <csignal>

#include "cli/cli_process.hpp"
#include "custodian/inspect/revoke.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::lock_options_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

Words in_root(const TestClient& client, Words words) {
  words.insert(words.begin(), {"--namespace", client.root()});
  return words;
}

/// The path of the command's node, which is read when the command has begun.
std::string node_of(const TestClient& client, CliProcess& cli) {
  REQUIRE(cli.says("begun"));
  ClientOptions options = options_for(client.servers());
  options.credentials = {{"digest", "owner:secret"}};
  options.name_space = client.root();
  const Client owner{options};
  return "/lock/" + owner.children("/lock").names.at(0);
}

Acl acl_of(const TestClient& client, const std::string& node) {
  ClientOptions options = options_for(client.servers());
  options.credentials = {{"digest", "owner:secret"}};
  options.name_space = client.root();
  const Client owner{options};
  return owner.get_acl(node);
}

const Words then_wait{"--", "sh", "-c", "echo begun; sleep 1000"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("nodes belong to the credentials that are given, or to everybody without any") {
  TestClient client{"acl-default"};
  {
    CliProcess cli{with(in_root(client, {"lock", "/lock"}), then_wait)};
    CHECK(acl_of(client, node_of(client, cli)) == open_acl());
  }
  client->remove("/lock", {.missing = Missing::is_fine, .descendants = Descendants::are_removed});
  CliProcess cli{
      with(in_root(client, {"--auth", "digest:owner:secret", "lock", "/lock"}), then_wait)};
  const Acl acl = acl_of(client, node_of(client, cli));
  REQUIRE(acl.size() == 1);
  CHECK(acl[0].scheme == "digest");
  CHECK(acl[0].permissions == Permissions::all);
  // A client without these credentials can neither see the node nor break it.
  CHECK(run_cli(in_root(client, {"inspect", "/lock"})).status == 77);
}

TEST_CASE("--acl says whose the nodes are, and refuses what cannot be") {
  TestClient client{"acl"};
  CHECK(run_cli(in_root(client, {"lock", "/lock", "--acl", "creator-all", "--", "true"})).status ==
        64);
  CliProcess cli{with(in_root(client, {"--auth", "digest:owner:secret", "lock", "/lock", "--acl",
                                       "creator-all-read-all"}),
                      then_wait)};
  const Acl acl = acl_of(client, node_of(client, cli));
  REQUIRE(acl.size() == 2);
  CHECK(acl[1].permissions == Permissions::read);
  CHECK(run_cli(in_root(client, {"inspect", "/lock"})).status == 0);
  CHECK(run_cli(in_root(client, {"--auth", "digest:owner:secret", "lock", "/open", "--acl", "open",
                                 "--", "true"}))
            .status == 0);
}

TEST_CASE("a touch interval that does not fit the session is refused, and one that fits serves") {
  TestClient client{"touch"};
  const Words refused{"--session-timeout", "2s", "lock", "/lock", "--", "true"};
  CHECK(run_cli(in_root(client, refused)).status == 64);
  const Words served{"--session-timeout", "2s",    "lock", "/lock",
                     "--touch-interval",  "375ms", "--",   "true"};
  const Ended ended = run_cli(in_root(client, served));
  INFO(ended.err);
  CHECK(ended.status == 0);
}

TEST_CASE("--on-revoke terminate ends the command when somebody asks, and passes the lock on") {
  TestClient client{"on-revoke"};
  CliProcess cli{
      with(in_root(client, {"lock", "/lock", "--on-revoke", "terminate"}),
           {"--", "sh", "-c", "trap 'echo asked; exit 5' TERM; echo begun; sleep 1000 & wait"})};
  REQUIRE(cli.says("begun"));
  InterProcessMutex mutex{*client, "/lock"};
  auto next = begun<Lease>([&](auto done) { mutex.async_acquire(done); });
  CHECK(run_cli(in_root(client, {"revoke", "/lock"})).status == 0);
  CHECK(cli.says("asked"));
  CHECK(cli.says("somebody asks for /lock"));
  REQUIRE(next.wait_for(patience) == std::future_status::ready);
}

TEST_CASE("a command is left alone by those who ask, unless it was told otherwise") {
  TestClient client{"on-revoke-ignored"};
  CliProcess cli{with(in_root(client, {"lock", "/lock"}), then_wait)};
  REQUIRE(cli.says("begun"));
  InterProcessMutex mutex{*client, "/lock"};
  const auto identity = [&] { return mutex.participants().at(0).identity; };
  const std::string before = identity();
  CHECK(run_cli(in_root(client, {"revoke", "/lock"})).status == 0);
  CHECK(cli.says("somebody asks for /lock: the command goes on"));
  CHECK(eventually([&] { return identity() == before; }));
  CHECK_FALSE(mutex.try_lock_for(500ms));
  CHECK_FALSE(cli.has_ended());
}

TEST_CASE("a request for one permit of several ends the command that holds them, once") {
  TestClient client{"on-revoke-permits"};
  CliProcess cli{in_root(
      client, {"semaphore", "/permits", "--permits", "3", "--take", "2", "--on-revoke", "terminate",
               "--", "sh", "-c", "trap 'echo asked; exit 5' TERM; echo begun; sleep 1000 & wait"})};
  REQUIRE(cli.says("begun"));
  InterProcessSemaphore semaphore{*client, "/permits", 3};
  CHECK(run_cli(in_root(client, {"revoke", "/permits"})).status == 0);
  CHECK(cli.says("asked"));
  const PermitsResult all = semaphore.try_acquire_for(3, patience);
  CHECK(all.permits.size() == 3);
}

}  // namespace custodian::tests::lock_options_test
