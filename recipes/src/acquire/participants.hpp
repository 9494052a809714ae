#pragma once

/// \file
/// Participants are the contenders of a queue, read from its nodes.

#include <string>
#include <string_view>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian::recipes_detail {

struct LockSpec;
using LockSpecPtr = std::shared_ptr<const LockSpec>;

/// The contender whose node was read. Called on the strand only.
[[nodiscard]] Participant participant_of(const Client& client, std::string node, GetResult read);

/// The contenders of the queue, in order. Blocks, and throws Error.
[[nodiscard]] std::vector<Participant> participants_of(const LockSpecPtr& spec,
                                                       std::string_view operation,
                                                       OperationOptions options);

}  // namespace custodian::recipes_detail
