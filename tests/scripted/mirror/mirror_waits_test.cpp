// Mirrors over the fake ensemble: which listeners are notified of changes, and how waits and
// mirrors end.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>

#include "custodian/mirror/node_cache.hpp"
#include "scripted/mirror/mirror_scene.hpp"
#include "support/in_child.hpp"

namespace custodian::tests::mirror_waits_test {
namespace {

namespace asio = boost::asio;

using Told = std::vector<std::string>;

TEST_CASE("mirror: a late subscriber gets the present, then synced") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  Replay late;
  const Subscription subscription =
      scene.mirror->on_change([&](const MirrorChange& change) { late.apply(change); });
  REQUIRE(scene.world.run_until([&] { return late.told.size() == 4; }));
  CHECK(late.told == Told{"added /m", "added /m/a", "added /m/b", "synced"});
  scene.world.make("/m/c");
  REQUIRE(scene.world.run_until([&] { return late.told.size() == 5; }));
  CHECK(late.told.back() == "added /m/c");
  CHECK(scene.follows());
}

TEST_CASE("mirror: the stream of changes begins with its first call") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  Replay stream;
  const auto next = [&] {
    const auto change =
        run<MirrorChange>(scene.world, [&](auto done) { scene.mirror->async_next(done); });
    REQUIRE(change.arrived());
    REQUIRE_FALSE(change.error());
    stream.apply(change.result());
  };
  for (int i = 0; i < 4; ++i) next();
  CHECK(stream.told == Told{"added /m", "added /m/a", "added /m/b", "synced"});
  scene.write("/m/a", "1");
  scene.world.remove("/m/b");
  REQUIRE(scene.follows());
  next();
  next();
  CHECK(difference(scene.world.ensemble, *scene.mirror, stream) == "");
}

TEST_CASE("mirror: one caller at a time waits for the stream, and may be cancelled") {
  MirrorScene scene{{}, {}, {}};
  REQUIRE(scene.follows());
  CHECK_FALSE(
      run<MirrorChange>(scene.world, [&](auto done) { scene.mirror->async_next(done); }).error());
  asio::cancellation_signal signal;
  Outcome<MirrorChange> first;
  scene.mirror->async_next(asio::bind_cancellation_slot(signal.slot(), first.handler()));
  const auto second =
      run<MirrorChange>(scene.world, [&](auto done) { scene.mirror->async_next(done); });
  CHECK(second.error() == Errc::invalid_argument);
  signal.emit(asio::cancellation_type::total);
  REQUIRE(scene.world.run_until_arrived(first));
  CHECK(first.error() == asio::error::operation_aborted);
  scene.world.make("/m");
  const auto third =
      run<MirrorChange>(scene.world, [&](auto done) { scene.mirror->async_next(done); });
  REQUIRE_FALSE(third.error());
  CHECK(third.result().kind == MirrorChangeKind::added);
}

TEST_CASE("mirror: a wait for its being in sync ends when it is, at its deadline, or cancelled") {
  MirrorScene scene;
  const auto synced = run<>(scene.world, [&](auto done) { scene.mirror->async_wait_synced(done); });
  CHECK_FALSE(synced.error());
  CHECK(scene.mirror->state() == MirrorState::synced);
  scene.world.ensemble.stop();
  REQUIRE(scene.runs_until(MirrorState::suspended));
  const auto late = run<bool>(
      scene.world, [&](auto done) { scene.mirror->async_wait_synced_for(brief_limit, done); });
  REQUIRE(late.arrived());
  CHECK_FALSE(late.error());
  CHECK_FALSE(late.result());
  asio::cancellation_signal signal;
  Outcome<> cancelled;
  scene.mirror->async_wait_synced(asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
  Outcome<bool> patient;
  scene.mirror->async_wait_synced_until(Deadline{}, patient.handler());
  scene.world.settle();
  CHECK_FALSE(cancelled.arrived());
  signal.emit(asio::cancellation_type::total);
  REQUIRE(scene.world.run_until_arrived(cancelled));
  CHECK(cancelled.error() == asio::error::operation_aborted);
  scene.world.ensemble.start();
  REQUIRE(scene.world.run_until_arrived(patient));
  CHECK(patient.result());
}

TEST_CASE("mirror: a destroyed mirror ends its waits, and takes its watches off") {
  MirrorScene scene{{}, {}, {}};
  REQUIRE(scene.follows());
  CHECK_FALSE(
      run<MirrorChange>(scene.world, [&](auto done) { scene.mirror->async_next(done); }).error());
  scene.world.ensemble.stop();
  REQUIRE(scene.runs_until(MirrorState::suspended));
  Outcome<> synced;
  Outcome<MirrorChange> next;
  scene.mirror->async_wait_synced(synced.handler());
  scene.mirror->async_next(next.handler());
  scene.world.settle();
  const MirrorSnapshotPtr kept = scene.mirror->snapshot();
  scene.mirror.reset();
  REQUIRE(scene.world.run_until_arrived(synced));
  REQUIRE(scene.world.run_until_arrived(next));
  CHECK(synced.error() == asio::error::operation_aborted);
  CHECK(next.error() == asio::error::operation_aborted);
  CHECK(kept->empty());
  scene.world.ensemble.start();
}

TEST_CASE("mirror: a closed client ends it, and what was known stays readable") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  Outcome<MirrorChange> next;
  for (int i = 0; i < 4; ++i) {
    next = {};
    scene.mirror->async_next(next.handler());
    REQUIRE(scene.world.run_until_arrived(next));
  }
  next = {};
  scene.mirror->async_next(next.handler());
  scene.world.settle();
  scene.client->close();
  REQUIRE(scene.world.run_until_arrived(next));
  CHECK(next.error() == Errc::closed);
  CHECK(scene.mirror->state() == MirrorState::closed);
  CHECK(scene.mirror->get("/m/a"));
  const TreeCache late{*scene.client, "/m"};
  CHECK(late.state() == MirrorState::closed);
  const auto synced = run<>(scene.world, [&](auto done) { late.async_wait_synced(done); });
  CHECK(synced.error() == Errc::closed);
}

TEST_CASE("mirror: a listener that throws is logged, and notified of the next change") {
  MirrorScene scene;
  int calls = 0;
  const Subscription throwing = scene.mirror->on_change([&](const MirrorChange&) {
    ++calls;
    throw std::runtime_error{"no change, please"};
  });
  REQUIRE(scene.follows());
  REQUIRE(scene.world.run_until([&] { return calls == 4; }));
  scene.world.settle();
  CHECK(scene.lines_with("no change, please") == 4);
}

TEST_CASE("mirror: a listener may end its own subscription") {
  MirrorScene scene;
  int calls = 0;
  std::optional<Subscription> own;
  own = scene.mirror->on_change([&](const MirrorChange&) {
    ++calls;
    own.reset();
  });
  REQUIRE(scene.follows());
  scene.world.settle();
  CHECK(calls == 1);
  CHECK_THROWS_AS(scene.mirror->on_change(nullptr), Error);
}

TEST_CASE("mirror: listeners are called on the callback executor") {
  asio::io_context callbacks;
  ClientOptions options;
  options.callback_executor = callbacks.get_executor();
  std::vector<std::string> told;
  {
    MirrorScene scene{{}, options};
    REQUIRE(scene.runs_until(MirrorState::synced));
    scene.write("/m/a", "1");
    REQUIRE(scene.world.run_until([&] { return scene.mirror->get("/m/a")->data == "1"; }));
    scene.world.settle();
    CHECK(scene.replay.told.empty());
    callbacks.poll();
    CHECK(scene.replay.told ==
          Told{"added /m", "added /m/a", "added /m/b", "synced", "changed /m/a"});
    scene.write("/m/a", "2");
    REQUIRE(scene.world.run_until([&] { return scene.mirror->get("/m/a")->data == "2"; }));
    scene.subscription.reset();
    callbacks.restart();
    callbacks.poll();
    CHECK(scene.replay.told.size() == 5);
    scene.mirror.reset();
    scene.client.reset();
    CHECK(scene.world.run_until([&] {
      callbacks.restart();
      callbacks.poll();
      return scene.world.ensemble.watches() == 0;
    }));
    scene.client = scene.world.client("another");
  }
}

TEST_CASE("mirror: wrong arguments are refused") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  CHECK_THROWS_AS((TreeCache{*scene.client, "m"}), Error);
  CHECK_THROWS_AS((NodeCache{*scene.client, "/m", {.max_nodes = 0}}), Error);
}

TEST_CASE("mirror: a mirror may move, and be replaced") {
  MirrorScene scene;
  TreeCache moved{std::move(*scene.mirror)};
  REQUIRE(scene.world.run_until([&] { return moved.state() == MirrorState::synced; }));
  moved = TreeCache{*scene.client, "/m/a"};
  REQUIRE(scene.world.run_until([&] { return moved.state() == MirrorState::synced; }));
  CHECK(moved.snapshot()->size() == 1);
  REQUIRE(scene.world.run_until([&] { return scene.world.ensemble.watches() == 2; }));
}

TEST_CASE("mirror: in a forked child nothing is known, and its parent goes on") {
  MirrorScene scene;
  REQUIRE(scene.follows());
  CHECK(in_child([&] {
    error_code error;
    scene.mirror->async_wait_synced([&](error_code ended) { error = ended; });
    scene.world.settle();
    const bool is_right = scene.mirror->state() == MirrorState::closed &&
                          scene.mirror->snapshot()->empty() && !scene.mirror->get("/m") &&
                          scene.mirror->children("/m").empty() && error == Errc::forked;
    scene.mirror.reset();
    return is_right;
  }));
  scene.write("/m/a", "1");
  CHECK(scene.follows());
}

}  // namespace
}  // namespace custodian::tests::mirror_waits_test
