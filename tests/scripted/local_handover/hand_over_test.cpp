// A lock passes from one contender of a client to the next, in front of another client's contender.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <optional>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::hand_over_test {
namespace {

/// Contenders of the client "mine", and one of "other", in the order of their acquires.
class Line {
 public:
  ~Line() {
    mutex.reset();
    others_mutex.reset();
    CHECK(world.end(mine));
    CHECK(world.end(other));
  }

  using Place = Outcome<Lease>;

  Place queue(InterProcessMutex& where) {
    const std::size_t before = nodes().size();
    Place place;
    where.async_acquire(place.handler());
    REQUIRE(world.run_until([&] { return nodes().size() == before + 1; }));
    world.settle();
    return place;
  }
  Place queue() { return queue(*mutex); }
  Place queue_other() { return queue(*others_mutex); }
  [[nodiscard]] std::vector<std::string> nodes() const { return world.ensemble.children("/lock"); }
  /// The path of the n-th contender, in the order of sequence numbers, since names have different
  /// prefixes.
  [[nodiscard]] std::string node(std::size_t number) const {
    auto names = nodes();
    std::ranges::sort(names, {},
                      [](const std::string& name) { return name.substr(name.size() - 10); });
    return "/lock/" + names.at(number);
  }
  [[nodiscard]] std::vector<std::string> sent_by_mine() const {
    std::vector<std::string> kinds;
    for (const Submission& each : world.ensemble.history()) {
      if (each.client == "mine") kinds.push_back(each.kind);
    }
    return kinds;
  }

  World world;
  std::unique_ptr<Client> mine = world.client("mine");
  std::unique_ptr<Client> other = world.client("other");
  std::optional<InterProcessMutex> mutex{std::in_place, *mine, "/lock"};
  std::optional<InterProcessMutex> others_mutex{std::in_place, *other, "/lock"};
};

/// Returns true if a contender knows that it does not hold the lock, or does not hold it any more.
bool is_out(Line::Place& place) {
  return place.arrived() && (place.error() || place.result().state() == LeaseState::lost);
}

TEST_CASE("hand-over: within a client it is one request, and nobody waits for the reply") {
  Line line;
  auto first = line.queue();
  auto second = line.queue();
  auto third = line.queue();
  REQUIRE(first.arrived());
  line.world.ensemble.clear_history();
  first.result().release();
  REQUIRE(line.world.run_until_arrived(second));
  CHECK_FALSE(second.error());
  CHECK(second.result().state() == LeaseState::held);
  CHECK(line.sent_by_mine() == std::vector<std::string>{"multi"});
  CHECK(second.result().token() > FencingToken{});
  line.world.settle();
  second.result().release();
  REQUIRE(line.world.run_until_arrived(third));
  line.world.settle();
  CHECK(line.sent_by_mine() == std::vector<std::string>{"multi", "multi"});
  CHECK(line.nodes().size() == 1);
  third.result().release();
}

TEST_CASE("hand-over: never past somebody else's contender") {
  Line line;
  auto first = line.queue();
  auto others = line.queue_other();
  auto second = line.queue();
  REQUIRE(first.arrived());
  first.result().release();
  REQUIRE(line.world.run_until_arrived(others));
  line.world.settle();
  CHECK_FALSE(second.arrived());
  others.result().release();
  REQUIRE(line.world.run_until_arrived(second));
  CHECK_FALSE(second.error());
  second.result().release();
}

TEST_CASE("hand-over: whoever gives up while it waits is left out") {
  Line line;
  auto first = line.queue();
  boost::asio::cancellation_signal signal;
  Line::Place second;
  line.mutex->async_acquire(boost::asio::bind_cancellation_slot(signal.slot(), second.handler()));
  REQUIRE(line.world.run_until([&] { return line.nodes().size() == 2; }));
  line.world.settle();
  auto third = line.queue();
  signal.emit(boost::asio::cancellation_type::all);
  REQUIRE(line.world.run_until_arrived(second));
  CHECK(second.error() == boost::asio::error::operation_aborted);
  line.world.settle();
  CHECK_FALSE(third.arrived());
  first.result().release();
  REQUIRE(line.world.run_until_arrived(third));
  CHECK_FALSE(third.error());
  third.result().release();
}

TEST_CASE("hand-over: whose node was deleted by hand is told before anybody else is let in") {
  Line line;
  auto first = line.queue();
  auto second = line.queue();
  auto others = line.queue_other();
  line.world.remove(line.node(1));
  first.result().release();
  bool told_in_time = false;
  REQUIRE(line.world.run_until([&] {
    if (!others.arrived()) told_in_time = is_out(second);
    return others.arrived();
  }));
  CHECK(told_in_time);
  REQUIRE(second.arrived());
  const bool refused = second.error() == Errc::node_deleted;
  CHECK((refused || second.result().loss_reason() == LossReason::node_deleted));
  CHECK_FALSE(others.error());
  if (!refused) second.result().release();
  others.result().release();
}

TEST_CASE("hand-over: a downgrade lets its client's readers in, and no writer") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessReadWriteLock lock{*client, "/lock"};
    Outcome<Lease> writing;
    Outcome<Lease> reader;
    Outcome<Lease> writer;
    lock.write().async_acquire(writing.handler());
    REQUIRE(world.run_until_arrived(writing));
    lock.read().async_acquire(reader.handler());
    world.settle();
    lock.write().async_acquire(writer.handler());
    world.settle();
    auto reading =
        run<Lease>(world, [&](auto done) { lock.read().async_acquire(writing.result(), done); });
    REQUIRE(reading.arrived());
    REQUIRE_FALSE(reading.error());
    CHECK_FALSE(reader.arrived());

    world.ensemble.clear_history();
    writing.result().release();
    world.settle();
    REQUIRE(reader.arrived());
    CHECK_FALSE(writer.arrived());
    reading.result().release();
    world.settle();
    CHECK_FALSE(writer.arrived());
    reader.result().release();
    REQUIRE(world.run_until_arrived(writer));
    CHECK_FALSE(writer.error());
    world.settle();
    // Each of the two readers' hand-overs was checked by a transaction; the writer listed the queue
    // itself.
    std::vector<std::string> kinds;
    for (const Submission& each : world.ensemble.history()) kinds.push_back(each.kind);
    CHECK(kinds == std::vector<std::string>{"multi", "multi", "remove", "children"});
    writer.result().release();
  }
  CHECK(world.end(client));
}

TEST_CASE("hand-over: behind somebody else's downgrade a reader passes its place on to no writer") {
  World world;
  auto client = world.client("mine");
  auto other = world.client("other");
  {
    InterProcessReadWriteLock lock{*client, "/lock"};
    InterProcessReadWriteLock others{*other, "/lock"};
    auto writing = run<Lease>(world, [&](auto done) { others.write().async_acquire(done); });
    REQUIRE(writing.arrived());
    Outcome<Lease> reader;
    Outcome<Lease> writer;
    lock.read().async_acquire(reader.handler());
    world.settle();
    lock.write().async_acquire(writer.handler());
    world.settle();
    auto reading =
        run<Lease>(world, [&](auto done) { others.read().async_acquire(writing.result(), done); });
    REQUIRE(reading.arrived());
    writing.result().release();
    REQUIRE(world.run_until_arrived(reader));
    reader.result().release();
    world.settle();
    CHECK_FALSE(writer.arrived());
    reading.result().release();
    REQUIRE(world.run_until_arrived(writer));
    CHECK_FALSE(writer.error());
    writer.result().release();
  }
  CHECK(world.end(client));
  CHECK(world.end(other));
}

TEST_CASE("hand-over: a lease that ends by itself is told before the next one has the lock") {
  World world;
  auto client = world.client("mine");
  {
    InterProcessMutex mutex{*client, "/lock"};
    AcquireOptions short_lived;
    short_lived.lease.hold_at_most = std::chrono::milliseconds{20};
    auto first = run<Lease>(world, [&](auto done) { mutex.async_acquire(short_lived, done); });
    REQUIRE(first.arrived());
    Outcome<Lease> second;
    bool told_before = false;
    mutex.async_acquire([&, done = second.handler()](error_code error, Lease lease) mutable {
      told_before = first.result().lost().stop_requested();
      done(error, std::move(lease));
    });
    REQUIRE(world.run_until_arrived(second));
    CHECK_FALSE(second.error());
    CHECK(told_before);
    second.result().release();
  }
  CHECK(world.end(client));
}

TEST_CASE(
    "hand-over: whoever is let in by a listing where somebody's node is missing tells that one") {
  Line line;
  auto first = line.queue();
  auto second = line.queue();
  first.result().release();
  REQUIRE(line.world.run_until_arrived(second));
  line.world.settle();
  REQUIRE(line.nodes().size() == 1);
  line.world.remove(line.node(0));
  CHECK(second.result().state() == LeaseState::held);
  Line::Place third;
  bool told_before = false;
  line.mutex->async_acquire([&, done = third.handler()](error_code error, Lease lease) mutable {
    told_before = second.result().state() == LeaseState::lost;
    done(error, std::move(lease));
  });
  REQUIRE(line.world.run_until_arrived(third));
  CHECK(told_before);
  CHECK(second.result().loss_reason() == LossReason::node_deleted);
  third.result().release();
}

/// A plan that holds back the answer to the client's first request, and all after it.
std::shared_ptr<FaultsAt> first_answer_delayed() {
  return std::make_shared<FaultsAt>("mine", Faults{{0, Fault{.kind = FaultKind::delay}}});
}

TEST_CASE(
    "hand-over: a holder whose node turns out to be missing is told before others are let in") {
  Line line;
  auto first = line.queue();
  auto second = line.queue();
  auto others = line.queue_other();
  line.world.remove(line.node(1));
  line.world.ensemble.set_fault_plan(first_answer_delayed());
  first.result().release();
  REQUIRE(line.world.run_until_arrived(second));
  REQUIRE_FALSE(second.error());
  CHECK(second.result().state() == LeaseState::held);
  line.world.ensemble.release_replies();
  bool told_in_time = false;
  REQUIRE(line.world.run_until([&] {
    if (!others.arrived()) told_in_time = is_out(second);
    return others.arrived();
  }));
  CHECK(told_in_time);
  CHECK(second.result().loss_reason() == LossReason::node_deleted);
  second.result().release();
  others.result().release();
}

TEST_CASE("hand-over: the holder at the end of a chain of missing nodes is told, too") {
  Line line;
  auto first = line.queue();
  auto second = line.queue();
  auto third = line.queue();
  auto others = line.queue_other();
  line.world.remove(line.node(1));
  line.world.remove(line.node(1));
  line.world.ensemble.set_fault_plan(first_answer_delayed());
  first.result().release();
  REQUIRE(line.world.run_until_arrived(second));
  second.result().release();
  REQUIRE(line.world.run_until_arrived(third));
  CHECK(third.result().state() == LeaseState::held);
  line.world.ensemble.release_replies();
  bool told_in_time = false;
  REQUIRE(line.world.run_until([&] {
    if (!others.arrived()) told_in_time = is_out(third);
    return others.arrived();
  }));
  CHECK(told_in_time);
  third.result().release();
  others.result().release();
}

TEST_CASE("hand-over: a writer behind a reader whose node was deleted by hand is not let in") {
  World world;
  auto client = world.client("mine");
  auto other = world.client("other");
  {
    InterProcessReadWriteLock lock{*client, "/lock"};
    InterProcessReadWriteLock others{*other, "/lock"};
    auto reader = run<Lease>(world, [&](auto done) { lock.read().async_acquire(done); });
    Outcome<Lease> writer;
    lock.write().async_acquire(writer.handler());
    world.settle();
    for (const std::string& name : world.ensemble.children("/lock")) {
      if ("/lock/" + name != reader.result().node()) world.remove("/lock/" + name);
    }
    auto reading = run<Lease>(world, [&](auto done) { others.read().async_acquire(done); });
    REQUIRE(reading.arrived());
    reader.result().release();
    REQUIRE(world.run_until_arrived(writer));
    CHECK(writer.error() == Errc::node_deleted);
    reading.result().release();
  }
  CHECK(world.end(client));
  CHECK(world.end(other));
}

}  // namespace
}  // namespace custodian::tests::hand_over_test
