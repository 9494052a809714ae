// custodian revoke and custodian break: what they do, and what they refuse.

#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/look.hpp"
#include "cli/terminal_process.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::revoke_break_test {
namespace {

using Json = nlohmann::json;

TEST_CASE("revoke asks a holder to let go, and says who was asked") {
  TestClient test{"revoke"};
  InterProcessMutex mutex{*test, "/lock", {.identity = "holder"}};
  Lease lease = mutex.acquire();
  std::promise<void> asked;
  const Subscription listening = lease.make_revocable([&] {
    asked.set_value();
    lease.release();
  });
  const Result result = look(test, {"revoke", "/lock"});
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(contains(result.output, "asked to let go: holder, mutex, holds"));
  REQUIRE(asked.get_future().wait_for(patience) == std::future_status::ready);
  CHECK(eventually([&] { return names_below(*test, "/lock").empty(); }));
}

TEST_CASE("a holder that was asked is shown with its identity, and that it was asked") {
  TestClient test{"revoke-named"};
  InterProcessMutex mutex{*test, "/lock", {.identity = "holder"}};
  const Lease lease = mutex.acquire();
  std::atomic<int> asked = 0;
  const Subscription listening = lease.make_revocable([&] { ++asked; });
  CHECK(contains(look(test, {"inspect", "/lock"}).output, "holds  mutex  holder "));
  for (int times = 1; times <= 2; ++times) {
    const int before = asked;
    const Result result = look(test, {"revoke", "/lock"});
    INFO(result.output);
    CHECK(contains(result.output, "asked to let go: holder"));
    REQUIRE(eventually([&] { return asked > before; }));
    REQUIRE(eventually([&] { return test->get(lease.node()).data == "holder"; }));
    CHECK(contains(look(test, {"inspect", "/lock"}).output, "holder (asked to release)"));
  }
  const Json entry = look_json(test, {"inspect", "/lock"})["queue"][0];
  CHECK(entry["identity"] == "holder");
  CHECK(entry["asked_to_let_go"] == true);
}

TEST_CASE("revoke says that nobody was asked where nobody holds") {
  TestClient test{"revoke-nobody"};
  const Result result = look(test, {"revoke", "/lock"});
  CHECK(result.status == 0);
  CHECK(contains(result.output, "nobody was asked"));
  CHECK(look_json(test, {"revoke", "/lock"})["asked"].empty());
}

TEST_CASE("revoke asks every holder of a semaphore, or only the one that is named") {
  TestClient test{"revoke-semaphore"};
  InterProcessSemaphore semaphore{*test, "/licences", 3};
  const auto leases = semaphore.acquire(2);
  const Json one = look_json(test, {"revoke", "/licences", "--node", leases[1].node()});
  REQUIRE(one["asked"].size() == 1);
  CHECK(one["asked"][0]["node"] == leases[1].node());
  CHECK(test->get(leases[0].node()).data != revoke_message);
  CHECK(look_json(test, {"revoke", "/licences"})["asked"].size() == 2);
  CHECK(test->get(leases[0].node()).data == revoke_message);
}

TEST_CASE("revoke and break touch no node that is not a contender's") {
  TestClient test{"break-foreign"};
  InterProcessMutex mutex{*test, "/lock"};
  const Lease lease = mutex.acquire();
  test->create("/lock/notes", "precious");
  test->create("/other", "precious");
  for (const char* node : {"notes", "/lock/notes", "/other", "../other", "/lock", ""}) {
    for (const char* command : {"revoke", "break"}) {
      std::vector<std::string> words{command, "/lock", "--node", node};
      if (words[0] == "break") words.emplace_back("--yes");
      // An empty node name is no mistake for revoke: it means all holders.
      if (words[0] == "revoke" && words[3].empty()) continue;
      const Result result = look(test, words);
      INFO(command << " " << node << ": " << result.output);
      CHECK(result.status == 64);
    }
  }
  CHECK(test->get("/lock/notes").data == "precious");
  CHECK(test->get("/other").data == "precious");
  CHECK(lease.state() == LeaseState::held);
}

TEST_CASE("break without a terminal wants --yes, and does nothing without it") {
  TestClient test{"break-refuses"};
  InterProcessMutex mutex{*test, "/lock"};
  const Lease lease = mutex.acquire();
  const Result result = look(test, {"break", "/lock", "--node", lease.node()});
  INFO(result.output);
  CHECK(result.status == 64);
  CHECK(contains(result.output, "--yes"));
  CHECK(test->exists(lease.node()));
  CHECK(look(test, {"break", "/lock"}).status == 64);
}

TEST_CASE("break --yes takes the lock away, and its holder is told") {
  TestClient test{"break-yes"};
  InterProcessMutex mutex{*test, "/lock", {.identity = "holder"}};
  const Lease lease = mutex.acquire();
  const std::string name = lease.node().substr(lease.node().rfind('/') + 1);
  const Result result = look(test, {"break", "/lock", "--node", name, "--yes"});
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(contains(result.output, "To be broken: holder, mutex, holds"));
  CHECK(contains(result.output, "does not stop its process"));
  CHECK(contains(result.output, "deleted " + lease.node()));
  CHECK(eventually([&] { return lease.state() == LeaseState::lost; }));
  CHECK(names_below(*test, "/lock").empty());
  CHECK(look(test, {"break", "/lock", "--node", name, "--yes"}).status == 64);
}

TEST_CASE("break on a terminal shows who loses it and who is next, and asks") {
  TestClient test{"break-asks"};
  InterProcessMutex mutex{*test, "/lock", {.identity = "holder"}};
  InterProcessMutex next{*test, "/lock", {.identity = "heir"}};
  const Lease lease = mutex.acquire();
  std::jthread waiter{
      [&](std::stop_token stop) { (void)error_of([&] { (void)next.acquire(std::move(stop)); }); }};
  REQUIRE(eventually([&] { return names_below(*test, "/lock").size() == 2; }));
  {
    TerminalProcess process{CUSTODIAN_CLI,
                            words_for(test, {"break", "/lock", "--node", lease.node()})};
    REQUIRE(process.shows("To be broken: holder"));
    REQUIRE(process.shows("Next: heir"));
    REQUIRE(process.shows("Type yes"));
    process.type("y\n");
    CHECK(process.shows("nothing was done"));
    CHECK(process.status() == 1);
    CHECK(test->exists(lease.node()));
  }
  {
    TerminalProcess process{CUSTODIAN_CLI,
                            words_for(test, {"break", "/lock", "--node", lease.node()})};
    REQUIRE(process.shows("Type yes"));
    // The node is changed meanwhile, and is no longer the one that was shown.
    test->set(lease.node(), "changed");
    process.type("yes\n");
    CHECK(process.shows("nothing was deleted"));
    CHECK(process.status() == 1);
    CHECK(test->exists(lease.node()));
  }
  TerminalProcess process{CUSTODIAN_CLI,
                          words_for(test, {"break", "/lock", "--node", lease.node()})};
  REQUIRE(process.shows("Type yes"));
  process.type("yes\n");
  CHECK(process.shows("deleted "));
  CHECK(process.status() == 0);
  CHECK_FALSE(test->exists(lease.node()));
}

TEST_CASE("break takes all places of a session away, at the path and right below it") {
  TestClient test{"break-session"};
  ClientOptions options = options_for(test.servers());
  options.name_space = test.root();
  Client dead{options};
  InterProcessMutex hot{dead, "/inventory/hot"};
  InterProcessMutex cold{dead, "/inventory/cold"};
  InterProcessMutex others{*test, "/inventory/hot"};
  const Lease held = hot.acquire();
  const Lease also_held = cold.acquire();
  auto next = begun<Lease>([&](auto done) { others.async_acquire(done); });
  REQUIRE(eventually([&] { return names_below(*test, "/inventory/hot").size() == 2; }));
  // A child that only other credentials may read is passed over.
  options.credentials = {{"digest", "owner:secret"}};
  Client owner{options};
  owner.create("/inventory/private", {}, {.acl = creator_all_acl()});
  std::ostringstream id;
  id << "0x" << std::hex << dead.session().id;

  // There is no terminal here on which the command could ask for confirmation.
  CHECK(look(test, {"break", "/inventory", "--session", id.str()}).status == 64);
  CHECK(look(test, {"break", "/inventory", "--session", "someone", "--yes"}).status == 64);
  CHECK(look(test, {"break", "/inventory", "--session", "0x1", "--yes"}).status == 64);
  CHECK(look(test, {"break", "/inventory", "--yes"}).status == 64);
  const Json broken = look_json(test, {"break", "/inventory", "--session", id.str(), "--yes"});
  CHECK(broken["session"] == id.str());
  CHECK(broken["deleted"].size() == 2);
  REQUIRE(next.wait_for(patience) == std::future_status::ready);
  const Lease passed_on = std::get<Lease>(next.get());
  CHECK(passed_on);
  CHECK(names_below(*test, "/inventory/cold").empty());
  owner.remove("/inventory/private");
}

}  // namespace
}  // namespace custodian::tests::revoke_break_test
