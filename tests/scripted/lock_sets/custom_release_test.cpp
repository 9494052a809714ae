// Where and when a custom lock is released: never on the client's strand, and before a failed
// acquire ends or begins again, unless the callback executor is stuck.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <optional>

#include "custodian/lock_sets/custom_lock.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::custom_release_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

/// A custom lock that is free, or held by somebody else.
class Row final : public CustomLock, public std::enable_shared_from_this<Row> {
 public:
  explicit Row(std::string name) : name_{std::move(name)} {}

  std::string name() const override { return name_; }
  void async_acquire(CustomLimit, CustomAnswer answer) override {
    ++asked;
    if (!is_free) return answer({}, nullptr);
    ++holds;
    answer({}, std::make_unique<Hold>(shared_from_this()));
  }

  bool is_free = true;
  bool release_throws = false;
  int asked = 0;
  int holds = 0;
  int releases = 0;
  std::function<void()> on_release = [] {};

 private:
  class Hold final : public CustomHold {
   public:
    explicit Hold(std::shared_ptr<Row> row) : row_{std::move(row)} {}
    void release() override {
      ++row_->releases;
      row_->on_release();
      if (row_->release_throws) throw std::runtime_error{"it does not want to"};
    }

   private:
    std::shared_ptr<Row> row_;
  };

  const std::string name_;
};

/// A client wants the mutex /a, the row "first" and the row "second". Its callback executor runs
/// only when the test says so; the test's handlers run on the client's context.
struct Play {
  explicit Play(std::chrono::milliseconds operation_timeout = World::limit) {
    ClientOptions options = world.options("observed");
    options.operation_timeout = operation_timeout;
    options.callback_executor = callbacks.get_executor();
    options.log = [this](LogLevel level, std::string_view message) {
      if (level == LogLevel::error) log.emplace_back(message);
    };
    client = world.client(std::move(options));
    mutex.emplace(*client, "/a");
    all.emplace(std::vector<AnyLock>{*mutex, first, second});
  }
  template <typename Result>
  auto here(const Outcome<Result>& outcome) {
    return asio::bind_executor(world.context.get_executor(), outcome.handler());
  }
  void run_callbacks() {
    callbacks.restart();
    callbacks.poll();
  }
  /// Runs the client and its callbacks until the condition is true.
  bool run_until(const std::function<bool()>& condition) {
    for (const Deadline end{World::limit}; !condition();) {
      if (end.passed()) return false;
      run_callbacks();
      world.context.restart();
      world.context.run_one_for(1ms);
    }
    return true;
  }
  /// Runs until the second row has been asked `times` times; at that time the first row is held.
  bool run_until_second_is_asked(int times) {
    return run_until([&] { return second->asked == times; });
  }
  /// An acquire that has to begin again: the second row is somebody's when it is asked, and free
  /// from then on.
  Outcome<LeaseGroup> refused_once() {
    second->is_free = false;
    Outcome<LeaseGroup> outcome;
    all->async_acquire(here(outcome));
    REQUIRE(run_until_second_is_asked(1));
    second->is_free = true;
    return outcome;
  }
  /// Runs the client without its callbacks, for longer than any pause between attempts.
  void run_client_only() {
    world.context.restart();
    world.context.run_for(20ms);
  }
  /// Checks that nothing is left behind.
  void end() {
    CHECK(run_until([&] {
      return first->holds == first->releases && second->holds == second->releases &&
             world.ensemble.children("/a").empty();
    }));
    all.reset();
    mutex.reset();
    const std::weak_ptr<detail::ClientCore> core = client->core();
    client.reset();
    CHECK(run_until([&] { return core.expired(); }));
  }

  asio::io_context callbacks{1};
  World world;
  std::vector<std::string> log;
  std::shared_ptr<Row> first = std::make_shared<Row>("first");
  std::shared_ptr<Row> second = std::make_shared<Row>("second");
  std::unique_ptr<Client> client;
  std::optional<InterProcessMutex> mutex;
  std::optional<InterProcessMultiLock> all;
};

TEST_CASE("custom releases: an acquire that fails ends when all is released, the last one first",
          "[multi]") {
  Play play;
  play.second->is_free = false;
  Outcome<GroupAcquireResult> outcome;
  std::optional<bool> first_was_last;
  play.first->on_release = [&] {
    play.run_client_only();
    first_was_last = !outcome.arrived() && play.world.ensemble.children("/a").size() == 1;
  };
  play.all->async_try_acquire(play.here(outcome));
  REQUIRE(play.run_until_second_is_asked(1));
  play.run_client_only();
  CHECK_FALSE(outcome.arrived());
  CHECK(play.first->releases == 0);
  CHECK(play.world.ensemble.children("/a").size() == 1);
  REQUIRE(play.run_until([&] { return outcome.arrived(); }));
  CHECK(first_was_last == true);
  CHECK(outcome.result().path == "second");
  CHECK(outcome.result().reason == NotAcquired::blocked);
  play.end();
}

TEST_CASE("custom releases: a waiting acquire begins again when all is released", "[multi]") {
  Play play;
  const Outcome<LeaseGroup> outcome = play.refused_once();
  const auto nodes = play.world.ensemble.children("/a");
  std::optional<bool> released_alone;
  play.first->on_release = [&] {
    play.run_client_only();
    // A new attempt would have created another node.
    released_alone = play.first->asked == 1 && play.world.ensemble.children("/a") == nodes;
  };
  play.run_client_only();
  CHECK(play.world.ensemble.children("/a") == nodes);
  REQUIRE(play.run_until([&] { return outcome.arrived(); }));
  CHECK(released_alone == true);
  CHECK_FALSE(outcome.error());
  CHECK(play.first->asked == 2);
  outcome.result().release();
  play.end();
}

TEST_CASE("custom releases: an acquire without a limit waits for them longer than for a request",
          "[multi]") {
  constexpr auto of_a_request = 10 * brief_limit;
  Play play{of_a_request};
  const Outcome<LeaseGroup> outcome = play.refused_once();
  const auto nodes = play.world.ensemble.children("/a");
  play.world.run_for(of_a_request * 3 / 2);
  CHECK(play.first->releases == 0);
  // A new attempt would have created another node.
  CHECK(play.world.ensemble.children("/a") == nodes);
  REQUIRE(play.run_until([&] { return outcome.arrived(); }));
  CHECK_FALSE(outcome.error());
  outcome.result().release();
  play.end();
}

TEST_CASE("custom releases: the limit holds when the callback executor stands still", "[multi]") {
  Play play;
  play.second->is_free = false;
  Outcome<GroupAcquireResult> outcome;
  play.all->async_try_acquire_for(500ms, play.here(outcome));
  CHECK(play.run_until([&] { return play.second->asked == 1 || outcome.arrived(); }));
  // On a busy machine the limit may pass before the second row is asked.
  const bool held = !outcome.arrived();
  REQUIRE(play.world.run_until_arrived(outcome));
  CHECK_FALSE(outcome.error());
  CHECK_FALSE(outcome.result());
  if (held) {
    CHECK(play.first->releases == 0);
    CHECK(play.world.ensemble.children("/a").size() == 1);
  }
  play.end();
}

enum class End { cancelled, stopped_by_its_client };

TEST_CASE("custom releases: neither a cancellation nor the client's end waits for them",
          "[multi]") {
  const auto by = GENERATE(End::cancelled, End::stopped_by_its_client);
  CAPTURE(static_cast<int>(by));
  Play play;
  play.second->is_free = false;
  asio::cancellation_signal signal;
  Outcome<LeaseGroup> outcome;
  play.all->async_acquire(asio::bind_cancellation_slot(signal.slot(), play.here(outcome)));
  REQUIRE(play.run_until_second_is_asked(1));
  play.run_client_only();
  CHECK_FALSE(outcome.arrived());
  Outcome<bool> closed;
  if (by == End::cancelled) {
    signal.emit(asio::cancellation_type::total);
  } else {
    play.client->async_close(World::limit, play.here(closed));
  }
  REQUIRE(play.world.run_until_arrived(outcome));
  CHECK(play.first->releases == 0);
  if (by == End::cancelled) {
    CHECK(outcome.error() == asio::error::operation_aborted);
  } else {
    CHECK(outcome.error() == Errc::closed);
    CHECK(play.run_until([&] { return closed.arrived(); }));
    CHECK(closed.result());
  }
  play.end();
}

TEST_CASE("custom releases: a group that ends on the strand is released elsewhere", "[multi]") {
  Play play;
  play.first->release_throws = true;
  Outcome<LeaseGroup> outcome;
  play.all->async_acquire(play.here(outcome));
  REQUIRE(play.run_until([&] { return outcome.arrived(); }));
  const asio::any_io_executor executor = play.client->get_executor();
  const auto* const strand = executor.target<asio::strand<asio::any_io_executor>>();
  REQUIRE(strand);
  bool is_on_strand = true;
  play.first->on_release = [&] { is_on_strand = strand->running_in_this_thread(); };
  // The group is destroyed on the strand, as that of an abandoned blocking call is.
  asio::post(executor, [group = std::move(outcome.result())] {});
  play.world.settle();
  CHECK(play.first->releases == 0);
  CHECK(play.second->releases == 0);
  CHECK(play.run_until([&] { return play.first->releases == 1; }));
  CHECK(play.second->releases == 1);
  CHECK_FALSE(is_on_strand);
  play.end();
  REQUIRE(play.log.size() == 1);
  CHECK(play.log[0].find("releasing first has failed: it does not want to") != std::string::npos);
}

}  // namespace
}  // namespace custodian::tests::custom_release_test
