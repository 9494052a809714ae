// The arguments that locks, semaphores and sets of locks refuse before they send a request, and
// those just inside the limits.

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <thread>

#include "custodian/lock_sets/inter_process_multi_lock.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "custodian/locks/with_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "custodian/shared/shared_count.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace custodian::tests::lock_arguments_test {
namespace {

using namespace std::chrono_literals;
namespace errc = boost::system::errc;

/// A world with one client, which is ended at the end.
struct Place {
  World world;
  std::unique_ptr<Client> client = world.client("client");

  Place() = default;
  ~Place() { CHECK((client == nullptr || world.end(client))); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void close_client() const {
    client->async_close(Deadline{0s}, [](error_code, bool) {});
  }
  /// Runs a call while another thread runs the world. Returns what it throws.
  template <typename Call>
  error_code blocking(const Call& call) {
    std::atomic<bool> ended = false;
    bool is_served = false;
    std::thread serving{[&] { is_served = world.run_until([&] { return ended.load(); }); }};
    const error_code error = error_of(call);
    ended = true;
    boost::asio::post(world.context, [] {});
    serving.join();
    CHECK(is_served);
    return error;
  }
};

TEST_CASE("lock arguments: options of a lock that make no sense are refused") {
  const Place place;
  const auto makes = [&](const LockOptions& options) {
    return error_of([&] { const InterProcessMutex mutex{*place.client, "/lock", options}; });
  };
  const LeaseOptions brief{.hold_at_most = 1s};
  CHECK(makes({.lease = {.hold_at_most = 0ns}}) == Errc::invalid_argument);
  CHECK(makes({.hand_off = HandOff::cohort(-1)}) == Errc::invalid_argument);
  CHECK(makes({.lease = brief, .hand_off = HandOff::cohort(1)}) == Errc::invalid_argument);
  CHECK(makes({.keep_idle_for = -1ns}) == Errc::invalid_argument);
  CHECK(makes({.lease = brief, .keep_idle_for = 1ns}) == Errc::invalid_argument);
  CHECK(makes({.share_readers = 0}) == Errc::invalid_argument);
  CHECK(makes({.lease = brief, .share_readers = 2}) == Errc::invalid_argument);

  CHECK_FALSE(makes({.lease = {.hold_at_most = 1ns}}));
  CHECK_FALSE(makes({.hand_off = HandOff::cohort(0)}));
  CHECK_FALSE(makes({.keep_idle_for = 1ns}));
  CHECK_FALSE(makes({.share_readers = 2}));
  CHECK_FALSE(makes(
      {.lease = brief, .hand_off = HandOff::strict(), .keep_idle_for = 0ns, .share_readers = 1}));
}

TEST_CASE("lock arguments: a place that no lock may have is refused") {
  const Place place;
  const auto makes = [&](const std::string& path) {
    return error_of([&] { const InterProcessMutex mutex{*place.client, path}; });
  };
  for (const char* path : {"", "lock", "/", "/zookeeper", "/zookeeper/lock", "/lock/"}) {
    INFO(path);
    CHECK(makes(path) == Errc::invalid_argument);
  }
  CHECK_FALSE(makes("/zookeepers"));
  const InterProcessMutex above{*place.client, "/a"};
  CHECK(makes("/a/b") == Errc::invalid_argument);
  CHECK(makes("/a/b/c") == Errc::invalid_argument);
  CHECK_FALSE(makes("/ab/c"));
  CHECK_FALSE(makes("/a"));
}

TEST_CASE("lock arguments: a semaphore that makes no sense is refused") {
  Place place;
  const Client& client = *place.client;
  const auto makes = [&](int maximum, const LockOptions& options = {}) {
    return error_of([&] { const InterProcessSemaphore semaphore{client, "/s", maximum, options}; });
  };
  CHECK(makes(0) == Errc::invalid_argument);
  CHECK(makes(1, {.profile = NamingProfile::kazoo}) == Errc::invalid_argument);
  CHECK(makes(1, {.hand_off = HandOff::cohort(1)}) == Errc::invalid_argument);
  CHECK_FALSE(makes(1));

  const auto counts_at = [&](const std::string& path) {
    return error_of([&] {
      const InterProcessSemaphore semaphore{client, "/a/s", SharedCount{client, path}};
    });
  };
  for (const char* path : {"/a", "/a/s", "/a/s/locks", "/a/s/leases", "/a/s/leases/maximum"}) {
    INFO(path);
    CHECK(counts_at(path) == Errc::invalid_argument);
  }
  for (const char* path : {"/b", "/a/t", "/a/s/maximum", "/a/s/leasesmaximum"}) {
    INFO(path);
    CHECK_FALSE(counts_at(path));
  }
  auto stranger = place.world.client("stranger");
  CHECK(error_of([&] {
          const InterProcessSemaphore semaphore{client, "/s", SharedCount{*stranger, "/b"}};
        }) == Errc::invalid_argument);
  CHECK(place.world.end(stranger));
}

TEST_CASE("lock arguments: a number of permits that can never be had is refused, in every form") {
  const Place place;
  InterProcessSemaphore three{*place.client, "/s", 3};
  const SharedCount count{*place.client, "/count"};
  InterProcessSemaphore many{*place.client, "/t", count};
  const auto none = [](error_code, const auto&) { FAIL("the operation has begun"); };
  const auto refused = [&](InterProcessSemaphore& semaphore, int permits) {
    const std::vector<error_code> all{
        error_of([&] { static_cast<void>(semaphore.acquire(permits)); }),
        error_of([&] { static_cast<void>(semaphore.try_acquire(permits)); }),
        error_of([&] { static_cast<void>(semaphore.try_acquire_for(permits, 1s)); }),
        error_of([&] { semaphore.async_acquire(permits, none); }),
        error_of([&] { semaphore.async_try_acquire(permits, none); }),
        error_of([&] { semaphore.async_try_acquire_for(permits, 1s, none); }),
        error_of([&] {
          static_cast<void>(AnyLock{semaphore, permits});
        })};
    return std::ranges::count(all, make_error_code(Errc::invalid_argument));
  };
  CHECK(refused(three, 0) == 7);
  CHECK(refused(three, -1) == 7);
  CHECK(refused(three, 4) == 7);
  CHECK(refused(many, 0) == 7);
  CHECK(refused(many, 1001) == 7);
  CHECK_FALSE(error_of([&] { static_cast<void>(AnyLock{three, 3}); }));
  CHECK_FALSE(error_of([&] { static_cast<void>(AnyLock{many, 1000}); }));
}

TEST_CASE("lock arguments: stripes that are not there are refused") {
  const Place place;
  const auto makes = [&](const std::string& path, std::size_t stripes) {
    return error_of([&] { const StripedMutex mutex{*place.client, path, stripes}; });
  };
  CHECK(makes("/stripes", 0) == Errc::invalid_argument);
  CHECK(makes("/stripes", StripedMutex::most_stripes + 1) == Errc::invalid_argument);
  CHECK(makes("stripes", 1) == Errc::invalid_argument);
  CHECK_FALSE(makes("/stripes", StripedMutex::most_stripes));

  StripedMutex mutex{*place.client, "/stripes", 2};
  CHECK(mutex.size() == 2);
  CHECK(mutex.path() == "/stripes");
  CHECK(mutex.stripe(1).path() == "/stripes/1");
  CHECK(&mutex.stripe(1) == &mutex[1]);
  CHECK(error_of([&] { static_cast<void>(mutex.stripe(2)); }) == Errc::invalid_argument);
}

TEST_CASE("lock arguments: terms that no lease can have are refused, whatever is acquired") {
  Place place;
  AcquireOptions terms;
  terms.lease.hold_at_most = 0ns;
  InterProcessMutex mutex{*place.client, "/a"};
  InterProcessSemaphore semaphore{*place.client, "/s", 1};
  InterProcessSemaphoreMutex semaphore_mutex{*place.client, "/t"};
  StripedMutex striped{*place.client, "/stripes", 2};
  InterProcessMultiLock all{{mutex}};

  const auto refusals = [&](const error_code& expected) {
    const auto one = run<Lease>(place.world, [&](auto done) { mutex.async_acquire(terms, done); });
    CHECK(one.error() == expected);
    const auto permit = run<std::vector<Lease>>(
        place.world, [&](auto done) { semaphore.async_acquire(1, terms, done); });
    CHECK(permit.error() == expected);
    const auto only =
        run<Lease>(place.world, [&](auto done) { semaphore_mutex.async_acquire(terms, done); });
    CHECK(only.error() == expected);
    const auto any =
        run<StripeLease>(place.world, [&](auto done) { striped.async_acquire_any(terms, done); });
    CHECK(any.error() == expected);
    const auto group =
        run<LeaseGroup>(place.world, [&](auto done) { all.async_acquire(terms, done); });
    CHECK(group.error() == expected);
  };
  refusals(Errc::invalid_argument);
  // A closed client is found before the terms are looked at.
  place.close_client();
  place.world.settle();
  refusals(Errc::closed);
  terms = {};
  refusals(Errc::closed);
}

TEST_CASE("lock arguments: a re-entry needs a lease of this lock") {
  Place place;
  {
    InterProcessMutex mutex{*place.client, "/a"};
    InterProcessMutex another{*place.client, "/b"};
    const auto enters = [&](const Lease& lease) {
      return run<Lease>(place.world, [&](auto done) { mutex.async_acquire(lease, done); });
    };
    CHECK(enters(Lease{}).error() == Errc::lock_lost);
    const auto its = run<Lease>(place.world, [&](auto done) { another.async_acquire(done); });
    CHECK(enters(its.result()).error() == Errc::invalid_argument);
    auto own = run<Lease>(place.world, [&](auto done) { mutex.async_acquire(done); });
    const auto again = enters(own.result());
    CHECK_FALSE(again.error());
    CHECK(again.result().node() == own.result().node());
    CHECK(place.world.ensemble.children("/a").size() == 1);
    own.result().release();
    CHECK(enters(own.result()).error() == Errc::lock_lost);
  }
}

// -- What a thread has not ------------------------------------------------------------------------

TEST_CASE("lock arguments: what is not held is not unlocked") {
  Place place;
  InterProcessMutex mutex{*place.client, "/a"};
  InterProcessSemaphoreMutex semaphore_mutex{*place.client, "/t"};
  InterProcessMultiLock all{{mutex}};
  const auto refused = make_error_code(errc::operation_not_permitted);
  CHECK(error_of([&] { mutex.unlock(); }) == refused);
  CHECK(error_of([&] { semaphore_mutex.unlock(); }) == refused);
  CHECK(error_of([&] { all.unlock(); }) == refused);
  CHECK(mutex.current_lease().state() == LeaseState::released);
  CHECK(semaphore_mutex.current_lease().state() == LeaseState::released);
  CHECK(all.current_leases().state() == LeaseState::released);
  CHECK_FALSE(semaphore_mutex.owns_lock());
  CHECK_FALSE(all.owns_lock());

  CHECK_FALSE(place.blocking([&] {
    semaphore_mutex.lock();
    all.lock();
  }));
  CHECK(semaphore_mutex.owns_lock());
  CHECK(all.owns_lock());
  CHECK(semaphore_mutex.current_lease().hold_count() == 2);
  semaphore_mutex.unlock();
  all.unlock();
  CHECK_FALSE(semaphore_mutex.owns_lock());
  CHECK_FALSE(all.owns_lock());
}

TEST_CASE("lock arguments: no more permits are released than were acquired") {
  Place place;
  const InterProcessSemaphore semaphore{*place.client, "/s", 3};
  auto counting = semaphore.counting();
  const auto refused = make_error_code(errc::operation_not_permitted);
  const auto left = [&] { return place.world.ensemble.children("/s/leases").size(); };
  CHECK(error_of([&] { counting.release(); }) == refused);
  CHECK_FALSE(error_of([&] { counting.release(0); }));
  CHECK(error_of([&] { counting.release(-1); }) == refused);
  CHECK_FALSE(place.blocking([&] {
    counting.acquire();
    counting.acquire();
    CHECK(counting.try_acquire_for(1h));
    CHECK_FALSE(counting.try_acquire());
  }));
  CHECK(left() == 3);
  CHECK(error_of([&] { counting.release(4); }) == refused);
  CHECK_FALSE(error_of([&] { counting.release(2); }));
  CHECK(place.world.run_until([&] { return left() == 1; }));
  CHECK_FALSE(error_of([&] { counting.release(); }));
  CHECK(place.world.run_until([&] { return left() == 0; }));
}

TEST_CASE("lock arguments: a thread that would wait for itself is refused") {
  Place place;
  const auto deadlock = make_error_code(errc::resource_deadlock_would_occur);
  InterProcessReadWriteLock lock{*place.client, "/a"};
  StripedMutex striped{*place.client, "/stripes", 2};
  CHECK_FALSE(place.blocking([&] {
    for (auto* side : {static_cast<InterProcessLock*>(&lock.read()),
                       static_cast<InterProcessLock*>(&lock.write())}) {
      side->lock();
      CHECK(side->hold_count() == 1);
      CHECK(error_of([&] { static_cast<void>(lock.read().acquire()); }) == deadlock);
      CHECK(error_of([&] { static_cast<void>(lock.write().acquire()); }) == deadlock);
      side->unlock();
      CHECK(side->hold_count() == 0);
    }
    lock.read().lock();
    CHECK(error_of([&] { lock.write().lock(); }) == deadlock);
    lock.read().unlock();

    striped[0].lock();
    CHECK(striped.acquire_any().index == 1);
    striped[1].lock();
    CHECK(error_of([&] { static_cast<void>(striped.acquire_any()); }) == deadlock);
    CHECK_FALSE(error_of([&] { static_cast<void>(striped.try_acquire_any()); }));
    striped[0].unlock();
    striped[1].unlock();
  }));
}

// -- Calls under a lock ---------------------------------------------------------------------------

TEST_CASE("lock arguments: a call under a lock with the other form's fallback is refused") {
  Place place;
  WithLockOptions options;
  options.async_fallback =
      [](std::string, std::chrono::nanoseconds) -> boost::asio::awaitable<std::shared_ptr<void>> {
    co_return nullptr;
  };
  CHECK(error_of([&] { static_cast<void>(with_lock(*place.client, "/a", options, [] {})); }) ==
        Errc::invalid_argument);
}

TEST_CASE("lock arguments: a call under a lock that another client holds is skipped, or throws") {
  Place place;
  auto other = place.world.client("other");
  auto held = run<Lease>(place.world, [&](auto done) {
    InterProcessMutex{*other, "/a"}.async_acquire(done);
  });
  WithLockOptions options;
  options.wait = 0ns;
  bool ran = false;
  const auto call = [&] { return with_lock(*place.client, "/a", options, [&] { ran = true; }); };
  CHECK(place.blocking([&] { static_cast<void>(call()); }) ==
        make_error_code(errc::device_or_resource_busy));
  options.when_busy = Otherwise::skip;
  CHECK_FALSE(place.blocking([&] {
    const auto skipped = call();
    CHECK(skipped.under == Under::nothing);
    CHECK(skipped.reason == NotAcquired::blocked);
    CHECK(skipped.blocked_by->identity == "other");
  }));
  CHECK_FALSE(ran);
  held.result().release();
  // A maximum time rules out what else holders of one client would share.
  options = {};
  options.hold_at_most = 1h;
  options.lock = {.hand_off = HandOff::cohort(1), .keep_idle_for = 1h, .share_readers = 2};
  CHECK_FALSE(place.blocking([&] { CHECK(call().under == Under::lock); }));
  CHECK(ran);
  CHECK(place.world.run_until([&] { return place.world.ensemble.children("/a").empty(); }));
  CHECK(place.world.end(other));
}

}  // namespace
}  // namespace custodian::tests::lock_arguments_test
