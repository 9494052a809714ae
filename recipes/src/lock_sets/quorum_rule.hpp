#pragma once

/// \file
/// The quorum rule says how many of several leases suffice. Pure; for any thread.

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "custodian/lease/lease.hpp"

namespace custodian::recipes_detail {

/// The smallest number such that any two sets of that size, out of `count`, have a member in
/// common.
[[nodiscard]] constexpr std::size_t majority_of(std::size_t count) noexcept {
  return count / 2 + 1;
}

/// The prospects of an acquire of several locks, of which some are held and some are yet to be
/// tried.
enum class Prospect { enough, open, hopeless };
[[nodiscard]] constexpr Prospect prospect(std::size_t held, std::size_t to_come,
                                          std::size_t needed) noexcept {
  if (held >= needed) return Prospect::enough;
  return held + to_come >= needed ? Prospect::open : Prospect::hopeless;
}

/// The state of a group whose leases have these states.
[[nodiscard]] LeaseState state_of(std::span<const LeaseState> leases, std::size_t needed) noexcept;

/// How long a group lasts, by the remaining times of its leases: until fewer than `needed` leases
/// are left.
[[nodiscard]] std::chrono::nanoseconds remaining_of(std::vector<std::chrono::nanoseconds> leases,
                                                    std::size_t needed) noexcept;

}  // namespace custodian::recipes_detail
