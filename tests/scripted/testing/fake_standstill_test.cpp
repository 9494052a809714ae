// A jump of the clock wakes clients before the servers do what is due: a client with threads of its
// own may send something in between.

#include <functional>

#include "custodian/client.hpp"
#include "custodian/testing/fake_clock.hpp"
#include "custodian/testing/fake_ensemble.hpp"
#include "fake/timekeeper.hpp"
#include "support/catch.hpp"

namespace custodian::tests::fake_standstill_test {
namespace {

using namespace std::chrono_literals;
using testing::FakeClock;

constexpr auto timeout = 10s;

/// Runs a function when the clock has moved, before the servers do what is due.
class BeforeServers final : public testing::TimedServers {
 public:
  std::optional<Time> next_due() const override { return std::nullopt; }
  void run_due(Time) override {
    if (act) act();
  }
  std::function<void()> act;
};

/// A clock on which these servers are registered first.
std::shared_ptr<FakeClock> clock_with(const std::shared_ptr<BeforeServers>& first) {
  auto clock = std::make_shared<FakeClock>(20s);
  clock->timekeeper()->add(first);
  return clock;
}

/// A client with its own thread and an ephemeral node, but without a lease.
struct Play {
  Play() {
    client.create("/mine", "", {.mode = CreateMode::ephemeral});
    session = client.session().id;
  }
  ClientOptions options() {
    ClientOptions options = ensemble.options("quick");
    options.session_timeout = timeout;
    return options;
  }
  void jump(std::chrono::nanoseconds time, std::function<void()> act) {
    before->act = std::move(act);
    clock->jump(time);
    before->act = nullptr;
  }

  std::shared_ptr<BeforeServers> before = std::make_shared<BeforeServers>();
  std::shared_ptr<FakeClock> clock = clock_with(before);
  testing::FakeEnsemble ensemble{{.clock = clock}};
  Client client{options()};
  std::int64_t session = 0;
};

TEST_CASE("fake standstill: no client saves a session that is over", "[fake_clock]") {
  const auto time = GENERATE(timeout + 1ns, 2 * timeout + 0ns);
  const bool was_cut_off = GENERATE(false, true);
  CAPTURE(time.count(), was_cut_off);
  Play play;
  if (was_cut_off) play.ensemble.cut_off("quick");
  play.jump(time, [&] {
    play.ensemble.let_in("quick");
    CHECK_FALSE(play.client.exists("/mine"));
  });
  CHECK(play.client.session().id != play.session);
  CHECK(play.ensemble.sessions().size() == 1);
}

TEST_CASE("fake standstill: what is heard as a session ends is in time", "[fake_clock]") {
  Play play;
  play.jump(timeout, [&] { CHECK(play.client.exists("/mine")); });
  CHECK(play.client.session().id == play.session);
}

TEST_CASE("fake standstill: sessions that are over end in their order, whoever is heard first",
          "[fake_clock]") {
  Play play;
  play.clock->advance(1s);
  ClientOptions options = play.options();
  options.session_timeout = timeout / 2;
  Client other{options};
  other.create("/others", "", {.mode = CreateMode::ephemeral});
  play.jump(timeout - 1s, [&] { CHECK_FALSE(play.client.exists("/others")); });
  CHECK(play.client.session().id == play.session);
}

}  // namespace
}  // namespace custodian::tests::fake_standstill_test
