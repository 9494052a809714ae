#pragma once

/// \file
/// QueueReading finds the queues among the children of a node, and each contender's standing. Pure:
/// names in, standings out. Safe to use from any thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/inspect/inspect.hpp"
#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

/// The two children of a semaphore's node. The permits are read before the line: a contender that
/// has left the line by then owns the permits that were seen.
inline constexpr std::string_view permits_part = "leases";
inline constexpr std::string_view line_part = "locks";

/// A contender, and how it stands in its queue.
struct Standpoint {
  std::string name;
  Claim claim = Claim::mutex;
  Standing standing = Standing::holds;
  std::size_t ahead = 0;
  NamingProfile profile = NamingProfile::curator;
};

struct QueueReading {
  /// The contenders, queue by queue, each queue in its order.
  std::vector<Standpoint> standpoints{};
  std::vector<std::string> malformed{};
  std::vector<std::string> foreign{};
};

/// Finds the queues. kazoo names the nodes of its mutexes and of its write locks alike: beside
/// readers or writers such a node counts as a writer's. Permits are in order, and count as held
/// until judge_permit() decides.
[[nodiscard]] QueueReading read_queues(std::vector<std::string> children);

/// A permit: its index in `QueueReading::standpoints`, and whether its owner is still taking
/// permits.
struct PermitOf {
  std::size_t index = 0;
  /// Whether the first contender in the line for permits is of the same session.
  bool owner_is_taking = false;
};
/// Judges one permit. A contender that has left the line holds its permits. The first in line may
/// hold permits from before; it holds the new ones as soon as they are within `maximum` (0:
/// unknown).
void judge_permit(QueueReading& permits, PermitOf which, std::size_t maximum);

}  // namespace custodian::recipes_detail
