#pragma once

/// \file
/// InspectedRecipe describes a path that is no queue: a barrier, a latch, a condition, a number, a
/// rate limiter. inspect() recognises it by the names of its children, and by its data. Value
/// types.
///
/// Some layouts are alike, so people have to decide: see InspectedValue and InspectedDoubleBarrier.
///
/// When not to use it: to decide anything, since the description may be out of date when it
/// arrives. The recipes' own functions decide: `DistributedBarrier::is_set()`,
/// `CountDownLatch::count()`, `DistributedAtomicLong::load()`.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "custodian/locks/acquire.hpp"

namespace custodian {

/// A waiter of an InterProcessCondition.
struct InspectedWaiter {
  /// The waiter's node, session, and since when it waits. The identity is that of the waiter's
  /// lock; it is empty once a signal has replaced it.
  Participant participant{};
  /// Whether a signal was given to the waiter, which is about to go on.
  bool is_signalled = false;
};

/// An InterProcessCondition.
struct InspectedCondition {
  /// The waiters, in the order in which they are signalled.
  std::vector<InspectedWaiter> waiters{};
  /// The paths of signals whose waiters have gone without using them. The next waiter gets them.
  std::vector<std::string> left_signals{};
};

/// A member of a DistributedDoubleBarrier.
struct InspectedMember {
  /// The member's node, its data, its session, and since when the node exists.
  Participant participant{};
  /// Whether the member belongs to the party that is under way; otherwise it waits.
  bool is_in = false;
};

/// A DistributedDoubleBarrier, of this library, of Apache Curator or of kazoo. While no party of
/// the other two is complete, their members are ephemeral nodes with an id for a name and nothing
/// more. The instances of a service in Curator's discovery look the same, and are shown as members,
/// too.
struct InspectedDoubleBarrier {
  /// The members, in the order of their nodes' names.
  std::vector<InspectedMember> members{};
  /// Whether the ready node exists: a party is under way.
  bool is_ready = false;
  /// Whether the ready node was left behind by a party of which nobody is there any more. The next
  /// member of this library removes it; a member of another library enters alone.
  bool is_stale = false;
};

/// An InterProcessBarrier.
struct InspectedPhases {
  /// The number of the phase that is under way.
  std::int32_t phase = 0;
  /// The arrivals at this phase, in the order of their arrival.
  std::vector<Participant> arrivals{};
  /// How many nodes of other phases are there; they count for nothing.
  std::size_t left_over = 0;
};

/// A CountDownLatch with at least one arrival. It is open if `arrivals` has reached `expected`.
struct InspectedLatch {
  std::int32_t expected = 0;  ///< the number of arrivals that open the latch
  std::int32_t arrivals = 0;  ///< how many arrivals were counted
};

/// A RateLimiter from which a process has taken permits. The rate is not stored in its node.
struct InspectedRate {
  /// When permits were taken last, by the leader's clock.
  std::chrono::system_clock::time_point taken{};
  /// The permits that were taken then, as a time: at a rate of 10 a second a permit is 100 ms.
  std::chrono::nanoseconds cost{0};
  /// What was left after permits were taken the time before, in the same unit; less than nothing if
  /// permits were taken that were not due yet.
  std::chrono::nanoseconds credit{0};
};

/// A node with data and no children but witnesses: a DistributedAtomicLong, a
/// DistributedAtomicInteger, a DistributedAtomicValue, a SharedCount, a SharedValue, a
/// DistributedBarrier that is set, a CountDownLatch at which nobody has arrived, or a node of
/// another program. The nodes of all of these look alike.
struct InspectedValue {
  std::string data{};        ///< the node's data
  std::int32_t version = 0;  ///< how often the data were written since the node's creation
  /// When the data were written, by the leader's clock.
  std::chrono::system_clock::time_point written{};
  /// The number that a DistributedAtomicLong or a DistributedAtomicInteger would read: if the data
  /// have eight bytes, or four.
  std::optional<std::int64_t> number{};
  /// The clients that update the value with Settle::exactly_once. Each identity is that of the
  /// client, with the number of its last update.
  std::vector<Participant> witnesses{};
};

/// What a path without a queue is; `std::monostate` if it is none of these recipes.
using InspectedRecipe =
    std::variant<std::monostate, InspectedCondition, InspectedDoubleBarrier, InspectedPhases,
                 InspectedLatch, InspectedRate, InspectedValue>;

}  // namespace custodian
