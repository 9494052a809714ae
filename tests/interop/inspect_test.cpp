// custodian inspect, on locks that Apache Curator and kazoo hold.

#include <nlohmann/json.hpp>

#include "curator.hpp"
#include "programs/program.hpp"
#include "stage.hpp"

namespace custodian::tests::inspect_test {
namespace {

using Json = nlohmann::json;

std::vector<std::string> with_servers(const std::vector<std::string>& words) {
  std::vector<std::string> all = words_for_tls();
  all.insert(all.end(), {"--servers", connect_string()});
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

Json inspected(const std::string& path, std::vector<std::string> words = {}) {
  words.insert(words.begin(), {"inspect", path, "--json"});
  const Result result = run(CUSTODIAN_CLI, with_servers(words));
  INFO(result.output);
  REQUIRE(result.status == 0);
  return Json::parse(result.output)["queue"];
}

void check_entry(const Json& entry, const char* kind, const char* state, Session& owner) {
  INFO(entry.dump());
  CHECK(entry["kind"] == kind);
  CHECK(entry["state"] == state);
  std::ostringstream session;
  session << "0x" << std::hex << owner.id();
  CHECK(entry["session"] == session.str());
  CHECK(entry["address"].get<std::string>().starts_with("127.0.0.1:"));
}

/// Checks how inspect shows a holder of the library `held`, and a waiter of the library `waiting`.
void inspect_queue(const Peer& held, const Peer& waiting, const char* profile) {
  Stage stage{"inspect"};
  const std::string path = stage.path("lock");
  Driver holders{held};
  Driver waiters{waiting};
  Session holder{holders, "holder"};
  Session waiter{waiters, "waiter"};
  holder.does("acquire mutex " + path);
  waiter.begin("acquire mutex " + path);
  REQUIRE(stage.becomes(path, 2));

  const Json queue = inspected(path);
  REQUIRE(queue.size() == 2);
  check_entry(queue[0], "mutex", "holds", holder);
  check_entry(queue[1], "mutex", "waits", waiter);
  CHECK(queue[0]["profile"] == profile);
  const Result text = run(CUSTODIAN_CLI, with_servers({"inspect", path}));
  CHECK(contains(text.output, "1  holds  mutex"));
  CHECK(contains(text.output, "2  waits  mutex"));

  holder.does("release mutex " + path);
  (void)waiter.end();
  const Json afterwards = inspected(path);
  REQUIRE_FALSE(afterwards.empty());
  check_entry(afterwards.back(), "mutex", "holds", waiter);
  waiter.does("release mutex " + path);
}

/// Checks how inspect shows two readers that share a lock, and a writer that waits for both.
void inspect_readers(const Peer& peer) {
  Stage stage{"inspect-readers"};
  const std::string path = stage.path("lock");
  Driver driver{peer};
  Session one{driver, "one"};
  Session two{driver, "two"};
  Session writer{driver, "writer"};
  one.does("acquire read " + path);
  two.does("acquire read " + path);
  writer.begin("acquire write " + path);
  REQUIRE(stage.becomes(path, 3));
  const Json queue = inspected(path);
  REQUIRE(queue.size() == 3);
  check_entry(queue[0], "read", "holds", one);
  check_entry(queue[1], "read", "holds", two);
  check_entry(queue[2], "write", "waits", writer);
  one.does("release read " + path);
  two.does("release read " + path);
  (void)writer.end();
  writer.does("release write " + path);
}

TEST_CASE("inspect shows who holds a lock of Curator's, and who of ours waits for it") {
  CUSTODIAN_REQUIRES_CURATOR();
  inspect_queue(curator(), ours(), "curator");
}

TEST_CASE("inspect shows readers and writers of Curator's") {
  CUSTODIAN_REQUIRES_CURATOR();
  inspect_readers(curator());
}

TEST_CASE("inspect shows permits of Curator's semaphore, and who stands in its line") {
  CUSTODIAN_REQUIRES_CURATOR();
  Stage stage{"inspect-semaphore"};
  const std::string path = stage.path("semaphore");
  Driver driver{curator()};
  Session holder{driver, "holder"};
  Session waiter{driver, "waiter"};
  holder.does("acquire 2-of-2 " + path);
  waiter.begin("acquire 1-of-2 " + path);
  REQUIRE(stage.becomes(path + "/leases", 3));
  const Json queue = inspected(path, {"--permits", "2"});
  REQUIRE(queue.size() == 4);
  check_entry(queue[0], "permit", "holds", holder);
  check_entry(queue[1], "permit", "holds", holder);
  check_entry(queue[2], "permit", "waits", waiter);
  check_entry(queue[3], "turn", "waits", waiter);
  holder.does("release 2-of-2 " + path);
  (void)waiter.end();
  waiter.does("release 1-of-2 " + path);
}

TEST_CASE("inspect shows who holds a lock of kazoo's, and who of ours waits for it") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  if (!has_kazoo()) CUSTODIAN_SKIP("needs kazoo: tools/setup installs it, then configure again");
  inspect_queue(kazoo(), ours(Names::kazoos), "kazoo");
}

TEST_CASE("inspect shows readers and writers of kazoo's") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  if (!has_kazoo()) CUSTODIAN_SKIP("needs kazoo: tools/setup installs it, then configure again");
  inspect_readers(kazoo());
}

}  // namespace
}  // namespace custodian::tests::inspect_test
