// TimeLimit, of the kit for authors of recipes.

#include "custodian/authoring/time_limit.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include "custodian/authoring/event.hpp"
#include "custodian/authoring/spawn.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::time_limit_test {
namespace {

namespace asio = boost::asio;

struct Limited {
  Limited() = default;
  ~Limited() { CHECK(world.end(client)); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

  World world;
  std::unique_ptr<Client> client = world.client("author");
  std::shared_ptr<AsyncEvent> event = std::make_shared<AsyncEvent>();
  CancellationPtr callers = std::make_shared<Cancellation>(client->core());
  Outcome<bool> late;

  /// Begins to wait for the event. The outcome has an error if the wait was cancelled, and not if
  /// it was late.
  void begin(Deadline until) {
    spawn(client->core(), "a wait", wait(client->core(), callers, event, until), late.handler());
    world.settle();
  }

  static asio::awaitable<Result<bool>> wait(CorePtr core, CancellationPtr callers,
                                            std::shared_ptr<AsyncEvent> event, Deadline until) {
    const auto strand = co_await asio::this_coro::executor;
    const TimeLimit limit{core, strand, until, std::move(callers)};
    const CancellationPtr cancellation = limit.cancellation();
    co_await event->wait(strand, Deadline::never(), cancellation);
    error_code error;
    if (cancellation->requested()) error = asio::error::operation_aborted;
    if (limit.has_ended(error)) co_return true;
    if (error) co_return failed<bool>(error);
    co_return false;
  }
};

TEST_CASE("time limit: the deadline ends the operation, and says that it was the deadline") {
  Limited with;
  with.begin(Deadline{brief_limit});
  CHECK_FALSE(with.late.arrived());
  REQUIRE(with.world.run_until_arrived(with.late));
  CHECK_FALSE(with.late.error());
  CHECK(with.late.result());
}

TEST_CASE("time limit: what ends before the deadline is not late") {
  Limited with;
  with.begin(Deadline{World::limit});
  asio::post(with.client->get_executor(), [&] { with.event->notify_all(); });
  REQUIRE(with.world.run_until_arrived(with.late));
  CHECK_FALSE(with.late.error());
  CHECK_FALSE(with.late.result());
}

TEST_CASE(
    "time limit: a cancellation of the caller's is no lateness, whether it comes early or not") {
  for (const bool early : {true, false}) {
    Limited with;
    if (early) with.callers->request();
    with.begin(Deadline{World::limit});
    with.callers->request();
    REQUIRE(with.world.run_until_arrived(with.late));
    CHECK(with.late.error() == asio::error::operation_aborted);
  }
}

TEST_CASE("time limit: a default deadline, and never, limit nothing") {
  for (const Deadline until : {Deadline{}, Deadline::never()}) {
    Limited with;
    with.begin(until);
    CHECK_FALSE(with.late.arrived());
    with.callers->request();
    REQUIRE(with.world.run_until_arrived(with.late));
    CHECK(with.late.error() == asio::error::operation_aborted);
  }
}

TEST_CASE("time limit: a cancellation after the end does nothing") {
  Limited with;
  with.begin(Deadline{World::limit});
  asio::post(with.client->get_executor(), [&] { with.event->notify_all(); });
  REQUIRE(with.world.run_until_arrived(with.late));
  with.callers->request();
  with.world.settle();
  CHECK_FALSE(with.late.error());
}

}  // namespace
}  // namespace custodian::tests::time_limit_test
