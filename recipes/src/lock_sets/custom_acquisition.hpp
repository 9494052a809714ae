#pragma once

/// \file
/// The way to a custom lock, which may answer whenever it likes, or never.

#include <memory>
#include <string>

#include "acquire/acquire.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/lock_sets/custom_lock.hpp"
#include "lock_sets/held_custom.hpp"

namespace custodian::recipes_detail {

/// What an acquire of a custom lock came to: neither if it is somebody's.
using HeldCustomPtr = std::shared_ptr<HeldCustom>;

/// On the client's strand, where the handler runs, too. Ends with the lock's answer, at the limit
/// (as if the lock were somebody's), or by a cancellation (operation_aborted), whatever comes
/// first.
void start_acquire_custom(const Client& home, CancellationPtr cancellation,
                          std::shared_ptr<CustomLock> lock, std::string name,
                          const WaitLimit& wait_limit, Handler<HeldCustomPtr> handler);

}  // namespace custodian::recipes_detail
