#pragma once

/// \file
/// A value listener is notified of each new value of a SharedValue or a SharedCount.

#include "custodian/shared/basic_shared_value.hpp"

namespace custodian::recipes_detail {

/// Follows the node until the subscription is destroyed or the client closes. For std::string and
/// std::int32_t.
template <typename T>
[[nodiscard]] Subscription listen(const SharedNodePtr& node,
                                  std::function<void(const Versioned<T>&)> listener);

}  // namespace custodian::recipes_detail
