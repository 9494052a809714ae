// Unusable answers of a custom lock: with both an error and a hold, and after a cancellation.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <optional>

#include "custodian/lock_sets/custom_lock.hpp"
#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::custom_answers_test {
namespace {

namespace asio = boost::asio;

struct Counts {
  int holds = 0;
  int releases = 0;
};

class CountedHold final : public CustomHold {
 public:
  explicit CountedHold(std::shared_ptr<Counts> counts) : counts_{std::move(counts)} {
    ++counts_->holds;
  }
  void release() override { ++counts_->releases; }

 private:
  std::shared_ptr<Counts> counts_;
};

/// A custom lock whose answer the test gives.
class AskedLock final : public CustomLock {
 public:
  std::string name() const override { return "asked"; }
  void async_acquire(CustomLimit, CustomAnswer how) override {
    ++asked;
    answer = std::move(how);
  }
  [[nodiscard]] std::unique_ptr<CustomHold> hold() const {
    return std::make_unique<CountedHold>(counts);
  }

  int asked = 0;
  CustomAnswer answer;
  std::shared_ptr<Counts> counts = std::make_shared<Counts>();
};

/// A group of a custom lock and the mutex /a.
struct Group {
  void end() {
    CHECK(world.run_until([&] { return lock->counts->holds == lock->counts->releases; }));
    CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.children("/a").empty());
    all.reset();
    mutex.reset();
    lock->answer = nullptr;
    CHECK(world.end(client));
  }

  World world;
  std::unique_ptr<Client> client = world.client("client");
  std::shared_ptr<AskedLock> lock = std::make_shared<AskedLock>();
  std::optional<InterProcessMutex> mutex{std::in_place, *client, "/a"};
  std::optional<InterProcessMultiLock> all{
      std::in_place, std::initializer_list<AnyLock>{AnyLock{lock}, AnyLock{*mutex}}};
};

TEST_CASE("custom answers: a hold that comes with an error is released, and the acquire fails") {
  Group group;
  Outcome<LeaseGroup> acquired;
  group.all->async_acquire(acquired.handler());
  REQUIRE(group.world.run_until([&] { return group.lock->asked == 1; }));
  group.lock->answer(ServerErrc::no_auth, group.lock->hold());
  // The lock gets its hold back at once, not with the end of the acquire.
  CHECK(group.lock->counts->releases == 1);
  REQUIRE(group.world.run_until_arrived(acquired));
  CHECK(acquired.error() == ServerErrc::no_auth);
  CHECK_FALSE(acquired.result());
  group.end();
}

TEST_CASE("custom answers: an answer behind a cancellation counts, and its hold is released") {
  Group group;
  asio::cancellation_signal signal;
  Outcome<LeaseGroup> acquired;
  group.all->async_acquire(asio::bind_cancellation_slot(signal.slot(), acquired.handler()));
  REQUIRE(group.world.run_until([&] { return group.lock->asked == 1; }));
  // The cancellation is on its way to the strand when the lock answers.
  signal.emit(asio::cancellation_type::total);
  group.lock->answer({}, group.lock->hold());
  REQUIRE(group.world.run_until_arrived(acquired));
  CHECK(acquired.error() == asio::error::operation_aborted);
  CHECK(group.lock->counts->holds == 1);
  group.end();
  CHECK(group.lock->counts->releases == 1);
}

TEST_CASE("custom answers: a lock is not asked by a client that closes") {
  Group group;
  Outcome<Lease> held;
  group.mutex->async_acquire(held.handler());
  REQUIRE(group.world.run_until_arrived(held));
  Outcome<bool> closing;
  Outcome<LeaseGroup> acquired;
  // The holder keeps the client from closing.
  group.client->async_close(Deadline{World::limit}, closing.handler());
  group.all->async_acquire(acquired.handler());
  REQUIRE(group.world.run_until_arrived(acquired));
  CHECK(acquired.error() == Errc::closed);
  CHECK(group.lock->asked == 0);
  held.result().release();
  REQUIRE(group.world.run_until_arrived(closing));
  group.end();
}

}  // namespace
}  // namespace custodian::tests::custom_answers_test
