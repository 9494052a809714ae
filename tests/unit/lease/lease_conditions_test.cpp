// A lease lasts as long as its object. A condition on a temporary lease would release the lock
// before the body runs, so it does not compile; one on a named lease does.

#include <type_traits>
#include <utility>

#include "custodian/lease/lease.hpp"
#include "custodian/lock_sets/lease_group.hpp"
#include "custodian/locks/acquire.hpp"
#include "custodian/locks/striped_mutex.hpp"
#include "support/catch.hpp"

namespace custodian::lease_conditions_test {
namespace {

template <typename Result>
constexpr bool named_may_be_asked =
    std::is_constructible_v<bool, Result&>&& std::is_constructible_v<bool, const Result&>;

template <typename Result>
constexpr bool temporary_may_be_asked =
    std::is_constructible_v<bool, Result> || std::is_constructible_v<bool, const Result>;

// The type of `result().lease` where `result()` is a temporary.
template <typename Result>
using LeaseOfTemporary = decltype((std::declval<Result>().lease));

TEST_CASE("a lease without a name cannot be a condition", "[lease]") {
  STATIC_REQUIRE(named_may_be_asked<Lease>);
  STATIC_REQUIRE(named_may_be_asked<LeaseGroup>);
  STATIC_REQUIRE(named_may_be_asked<AcquireResult>);
  STATIC_REQUIRE(named_may_be_asked<StripeLease>);
  STATIC_REQUIRE(named_may_be_asked<GroupAcquireResult>);
  STATIC_REQUIRE(named_may_be_asked<PermitsResult>);

  STATIC_REQUIRE_FALSE(temporary_may_be_asked<Lease>);
  STATIC_REQUIRE_FALSE(temporary_may_be_asked<LeaseGroup>);
  STATIC_REQUIRE_FALSE(temporary_may_be_asked<AcquireResult>);
  STATIC_REQUIRE_FALSE(temporary_may_be_asked<StripeLease>);
  STATIC_REQUIRE_FALSE(temporary_may_be_asked<GroupAcquireResult>);
  STATIC_REQUIRE_FALSE(temporary_may_be_asked<PermitsResult>);
}

TEST_CASE("nor can the lease within a result without a name", "[lease]") {
  STATIC_REQUIRE_FALSE(std::is_constructible_v<bool, LeaseOfTemporary<AcquireResult>>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<bool, LeaseOfTemporary<StripeLease>>);
  STATIC_REQUIRE_FALSE(
      std::is_constructible_v<bool, decltype((std::declval<GroupAcquireResult>().leases))>);
}

}  // namespace
}  // namespace custodian::lease_conditions_test
