// Several clients add to one number while anything may fail: the sum of the additions that
// succeeded is the value.

#include <algorithm>
#include <random>

#include "custodian/atomics/distributed_atomic_long.hpp"
#include "scripted/world.hpp"
#include "shared/big_endian.hpp"
#include "support/catch.hpp"

namespace custodian::tests::atomic_property_test {
namespace {

using Done = Updated<std::int64_t>;

constexpr auto place = "/p/number";
/// The updates of each client. The first one has a write of its own, the others share one.
constexpr int adders_each = 3;
constexpr std::int64_t additions = std::int64_t{3} * adders_each * 12;

/// Lets one request in `one_in` fail, in any way.
class Storm final : public testing::FaultPlan {
 public:
  Storm(unsigned seed, unsigned one_in, bool ends_sessions) : random_{seed}, one_in_{one_in} {
    faults_ = all_faults();
    for (const int later : {1, 2, 3}) {
      faults_.push_back({.kind = FaultKind::apply_late, .requests_later = later});
    }
    std::erase_if(faults_, [&](const Fault& fault) {
      const bool ends =
          fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
      return ends && !ends_sessions;
    });
  }

  Fault on_submit(const Submission&) override {
    if (random_() % one_in_ != 0) return {};
    return faults_[random_() % faults_.size()];
  }

 private:
  std::minstd_rand random_;
  const unsigned one_in_;
  std::vector<Fault> faults_;
};

struct Count {
  std::int64_t certain = 0;
  std::int64_t unknown = 0;
  std::int64_t failed = 0;
  std::int64_t value = 0;
  /// The values and versions that the successful updates have found and left. No two updates have
  /// left the same.
  std::vector<Done> updates{};
};

class Crowd {
 public:
  Crowd(unsigned seed, UpdateOptions options, bool ends_sessions, unsigned one_in = 5) {
    constexpr std::chrono::milliseconds brief{1};
    options.contention = RetryPolicy::exponential_backoff(brief, 2 * brief, std::nullopt);
    for (const char* name : {"one", "two", "three"}) {
      clients_.push_back(world_.client(name));
      numbers_.emplace_back(*clients_.back(), place, options);
    }
    world_.ensemble.set_fault_plan(std::make_shared<Storm>(seed, one_in, ends_sessions));
  }

  Count run() {
    std::size_t under_way = 0;
    for (auto& number : numbers_) {
      for (int i = 0; i < adders_each; ++i, ++under_way) add(number, under_way, 12);
    }
    CHECK(world_.run_until([&] { return under_way == 0; }));
    world_.ensemble.set_fault_plan(nullptr);
    world_.ensemble.apply_late_requests();
    const Reply reply = world_.ensemble.operate(request::Get{place});
    count_.value = recipes_detail::from_big_endian<std::int64_t>(reply.data).value_or(0);
    numbers_.clear();
    CHECK(world_.run_until(
        [&] { return world_.ensemble.operate(request::GetChildren{place}).children.empty(); }));
    for (auto& client : clients_) CHECK(world_.end(client));
    return std::move(count_);
  }

 private:
  void add(DistributedAtomicLong& number, std::size_t& under_way, int times) {
    if (times == 0) {
      --under_way;
      return;
    }
    number.async_fetch_add(1,
                           [this, &number, &under_way, times](error_code error, const Done& done) {
                             if (!error) {
                               ++count_.certain;
                               count_.updates.push_back(done);
                             } else if (error == ErrorCondition::outcome_unknown) {
                               ++count_.unknown;
                             } else {
                               ++count_.failed;
                             }
                             add(number, under_way, times - 1);
                           });
  }

  World world_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<DistributedAtomicLong> numbers_;
  Count count_;
};

void check_sum(const Count& count) {
  CHECK(count.certain + count.unknown + count.failed == additions);
  CHECK(count.certain <= count.value);
  CHECK(count.value <= count.certain + count.unknown);
  std::vector<std::int64_t> left;
  for (const Done& done : count.updates) {
    CHECK(done.after.value == done.before.value + 1);
    // Between two updates that share a write there are no numbers.
    if (done.before.mzxid != 0 && done.after.mzxid != 0) {
      CHECK(done.after.version == done.before.version + 1);
      CHECK(done.after.mzxid > done.before.mzxid);
    }
    left.push_back(done.after.value);
  }
  std::ranges::sort(left);
  CHECK(std::ranges::adjacent_find(left) == left.end());
}

constexpr unsigned seeds = 40;

TEST_CASE("an atomic: with exactly_once the sum is exact, whatever is cut", "[atomics]") {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const Count count = Crowd{seed, {.settle = Settle::exactly_once}, false}.run();
    INFO("seed " << seed);
    check_sum(count);
    CHECK(count.unknown == 0);
    CHECK(count.failed == 0);
    CHECK(count.value == additions);
  }
}

TEST_CASE("an atomic: with exactly_once only lost sessions leave anything unknown", "[atomics]") {
  std::int64_t unknown = 0;
  std::int64_t all = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const Count count = Crowd{seed, {.settle = Settle::exactly_once}, true}.run();
    INFO("seed " << seed);
    check_sum(count);
    CHECK(count.failed == 0);
    unknown += count.unknown;
    all += count.certain + count.unknown;
  }
  WARN(unknown << " of " << all << " additions unknown");
}

TEST_CASE("an atomic: without a witness the sum is off by no more than the unknown outcomes",
          "[atomics]") {
  std::int64_t unknown = 0;
  std::int64_t counted = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const Count count = Crowd{seed, {}, true}.run();
    INFO("seed " << seed);
    check_sum(count);
    unknown += count.unknown;
    counted += count.value - count.certain;
  }
  // Both ends of it occur.
  CHECK(counted > 0);
  CHECK(counted < unknown);
}

TEST_CASE("an atomic: the sum is exact under a lock, too", "[atomics]") {
  // Each lost reply to a contender's create makes the look for its nodes longer by one.
  constexpr unsigned rare = 15;
  for (unsigned seed = 1; seed <= seeds / 4; ++seed) {
    const UpdateOptions options{.settle = Settle::exactly_once,
                                .promoted = PromotedToLock{.path = "/lock", .after_tries = 1}};
    const Count count = Crowd{seed, options, false, rare}.run();
    INFO("seed " << seed);
    check_sum(count);
    CHECK(count.value == additions);
  }
}

}  // namespace
}  // namespace custodian::tests::atomic_property_test
