#pragma once

/// \file
/// A change listener is notified of the changes of a mirror, one after the other.

#include "custodian/connection_state.hpp"
#include "custodian/mirror/mirror.hpp"
#include "mirror/followed_tree.hpp"

namespace custodian::recipes_detail {

/// Notifies the listener of the present tree, and then of every change, until the subscription is
/// destroyed or the mirror ends. Throws Error: invalid_argument (an empty function), forked.
[[nodiscard]] Subscription listen_to(const FollowedTreePtr& tree, MirrorListener listener);

}  // namespace custodian::recipes_detail
