#pragma once

/// \file
/// QueueReading finds the queues among the children of a node, and each contender's standing. Pure:
/// names in, an account out. Safe to use from any thread.

#include <cstddef>
#include <string>
#include <vector>

#include "custodian/inspect/inspect.hpp"
#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

struct Standpoint {
  std::string name;
  Claim claim = Claim::mutex;
  Standing standing = Standing::holds;
  std::size_t ahead = 0;
  NamingProfile profile = NamingProfile::curator;
};

struct QueueReading {
  /// Queue by queue, each in its order.
  std::vector<Standpoint> standpoints{};
  std::vector<std::string> malformed{};
  std::vector<std::string> foreign{};
};

/// Names of both kinds of exclusive locks of kazoo are alike: where readers or writers are, they
/// are writers'. Permits are in order, and all count as holding: judge_permit() decides.
[[nodiscard]] QueueReading read_queues(std::vector<std::string> children);

/// What is known of a permit, the one at `index` among `permits.standpoints`.
struct PermitOf {
  std::size_t index = 0;
  /// Whether its session is the first in the line for permits.
  bool owner_is_taking = false;
};
/// A contender that has left the line has its permits. The first in line may have others from
/// before, and has the new ones when they are within the maximum; 0: that is unknown.
void judge_permit(QueueReading& permits, PermitOf which, std::size_t maximum);

}  // namespace custodian::recipes_detail
