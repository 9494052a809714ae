#pragma once

/// \file
/// A custom acquisition waits for a custom lock, which may answer at any time, or never.

#include <memory>
#include <string>

#include "acquire/acquire.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/lock_sets/custom_lock.hpp"
#include "lock_sets/held_custom.hpp"

namespace custodian::recipes_detail {

/// The hold on a custom lock that was acquired; null without an error if another contender holds
/// it.
using HeldCustomPtr = std::shared_ptr<HeldCustom>;

/// Starts the acquire of a custom lock. Called on the strand of `home`, where the handler runs,
/// too. The acquire ends with the lock's answer, at the limit (as if another contender held the
/// lock), or by a cancellation (operation_aborted), whichever comes first.
void start_acquire_custom(const Client& home, CancellationPtr cancellation,
                          std::shared_ptr<CustomLock> lock, std::string name,
                          const WaitLimit& wait_limit, Handler<HeldCustomPtr> handler);

}  // namespace custodian::recipes_detail
