// Apache Curator's locks and ours on the same paths.

#include "curator.hpp"

#include <list>
#include <mutex>
#include <set>

#include "custodian/locks/inter_process_mutex.hpp"
#include "scenarios.hpp"
#include "stage.hpp"
#include "support/acquired.hpp"

namespace custodian::tests::curator_test {
namespace {

/// The numbers of sessions that the deletion of a node wakes.
struct Woken {
  std::size_t ours = 0;
  std::size_t curators = 0;
  std::size_t own = 0;  ///< 1 if the node's owner watches it

  [[nodiscard]] std::size_t all() const { return ours + curators + own; }
};

Woken woken_by(Stage& stage, Session& session, const std::string& path,
               const std::set<std::int64_t>& curators) {
  Woken woken;
  for (const std::int64_t watcher : stage.watchers(session, path)) {
    ++(watcher == session.id()      ? woken.own
       : curators.contains(watcher) ? woken.curators
                                    : woken.ours);
  }
  return woken;
}

TEST_CASE("4 processes of ours and 4 of Curator's count to 2000 under the mutex") {
  CUSTODIAN_REQUIRES_CURATOR();
  count_together(ours(), curator(), "mutex", 2000);
}

TEST_CASE("4 processes of ours and 4 of Curator's count to 2000 under the write lock") {
  CUSTODIAN_REQUIRES_CURATOR();
  count_together(ours(), curator(), "write", 2000);
}

TEST_CASE("a holder of ours lets go when one of Curator's asks, as often as it asks") {
  CUSTODIAN_REQUIRES_CURATOR();
  revoke(ours(), curator());
}

TEST_CASE("a holder of Curator's lets go when one of ours asks, as often as it asks") {
  CUSTODIAN_REQUIRES_CURATOR();
  revoke(curator(), ours());
}

TEST_CASE("ours and Curator's stand in one queue, and are served in its order") {
  CUSTODIAN_REQUIRES_CURATOR();
  stand_in_one_queue(ours(), curator());
}

TEST_CASE("readers of ours and of Curator's read at once, and our writer keeps Curator's out") {
  CUSTODIAN_REQUIRES_CURATOR();
  read_together(ours(), curator());
}

TEST_CASE("readers of Curator's and of ours read at once, and Curator's writer keeps ours out") {
  CUSTODIAN_REQUIRES_CURATOR();
  read_together(curator(), ours());
}

TEST_CASE("Curator's writer downgrades: our reader comes in, our writer goes on waiting") {
  CUSTODIAN_REQUIRES_CURATOR();
  downgrade(curator(), ours(), NextWriter::waits_meanwhile);
}

TEST_CASE("our writer downgrades: Curator's reader comes in, its writer goes on waiting") {
  CUSTODIAN_REQUIRES_CURATOR();
  downgrade(ours(), curator(), NextWriter::waits_meanwhile);
}

TEST_CASE("a writer that waited before a downgrade goes on waiting, but for Curator's before 5.5") {
  CUSTODIAN_REQUIRES_CURATOR();
  CHECK_FALSE(downgrade_before_writer(ours(), curator()).is_passed);
  // Before 5.5 a reader of Curator that was downgraded from a writer queues behind a waiting writer
  // (CURATOR-621), so that this writer, Curator's or ours, acquires the lock beside the reader.
  for (const Peer& other : {ours(), curator()}) {
    const Downgrade curators = downgrade_before_writer(curator(), other);
    CHECK(curators.is_passed == !curators.keeps_its_place);
  }
}

TEST_CASE("what a killed process of Curator's held and waited for passes on to ours") {
  CUSTODIAN_REQUIRES_CURATOR();
  kill_holder(curator(), ours());
}

TEST_CASE("what a killed process of ours held and waited for passes on to Curator's") {
  CUSTODIAN_REQUIRES_CURATOR();
  kill_holder(ours(), curator());
}

TEST_CASE(
    "a writer's end wakes of ours the next in line only, whoever of Curator's waits besides") {
  CUSTODIAN_REQUIRES_CURATOR();
  constexpr std::size_t readers_of_each = 50;
  Stage stage{"woken"};
  const std::string path = stage.path("lock");
  Driver our_driver{ours()};
  Driver curators_driver{curator()};
  std::list<Session> writers;
  std::list<Session> our_readers;
  std::list<Session> curators_readers;
  for (int i = 0; i < 3; ++i) writers.emplace_back(our_driver, "writer-" + std::to_string(i));
  for (std::size_t i = 0; i < readers_of_each; ++i) {
    our_readers.emplace_back(our_driver, "reader-" + std::to_string(i));
    curators_readers.emplace_back(curators_driver, "reader-" + std::to_string(i));
  }
  std::size_t queue = 0;
  for (Session& writer : writers) {
    writer.begin("acquire write " + path);
    REQUIRE(stage.becomes(path, ++queue));
  }
  for (Session& reader : our_readers) reader.begin("acquire read " + path);
  for (Session& reader : curators_readers) reader.begin("acquire read " + path);
  queue += our_readers.size() + curators_readers.size();
  REQUIRE(stage.becomes(path, queue));
  std::set<std::int64_t> curators;
  for (Session& reader : curators_readers) curators.insert(reader.id());

  const auto fired = [] { return own_server().statistic("zk_sum_node_deleted_watch_count"); };
  // All of Curator's readers watch the first writer in the queue, so each release wakes them as
  // well.
  const std::vector<std::size_t> ours_expected{1, 1, readers_of_each};
  auto ours_woken = ours_expected.begin();
  for (Session& writer : writers) {
    static_cast<void>(writer.end());
    Woken woken;
    CHECK(eventually([&] {
      woken = woken_by(stage, writer, path, curators);
      return woken.ours == *ours_woken && woken.curators == readers_of_each;
    }));
    const std::int64_t before = fired();
    writer.does("release write " + path);
    REQUIRE(stage.becomes(path, --queue));
    CHECK(fired() - before == static_cast<std::int64_t>(woken.all()));
    ++ours_woken;
  }
  for (Session& reader : our_readers) static_cast<void>(reader.end());
  for (Session& reader : curators_readers) static_cast<void>(reader.end());
}

TEST_CASE("a lock of kazoo's profile waits for Curator's, and logs the mixture as an error") {
  CUSTODIAN_REQUIRES_CURATOR();
  Stage stage{"mixture"};
  const std::string path = stage.path("lock");
  Driver driver{curator()};
  Session holder{driver, "holder"};
  holder.does("acquire mutex " + path);

  std::mutex mutex;
  std::vector<std::string> errors;
  ClientOptions options = options_for(connect_string());
  options.log = [&](LogLevel level, std::string_view message) {
    const std::scoped_lock guard{mutex};
    if (level == LogLevel::error) errors.emplace_back(message);
  };
  Client client{options};
  InterProcessMutex kazoos{client, path, {.profile = NamingProfile::kazoo}};
  CHECK_FALSE(acquired(kazoos.try_acquire_for(std::chrono::milliseconds{100})));
  const std::string curators = stage.nodes(holder, path).at(0);
  CHECK(eventually([&] {
    const std::scoped_lock guard{mutex};
    return errors.size() == 1 &&
           errors[0].find(curators.substr(curators.rfind('/') + 1)) != std::string::npos;
  }));
  client.close();
}

}  // namespace
}  // namespace custodian::tests::curator_test
