#pragma once

/// \file
/// ChangeFeed takes the changes of a mirror, for a listener or for a stream.

#include <vector>

#include "custodian/mirror/mirrored_node.hpp"

namespace custodian::recipes_detail {

class ChangeFeed {
 public:
  ChangeFeed() = default;
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;
  virtual ~ChangeFeed() = default;

  /// Takes changes, in order. The first ones are the present tree. Called with the mirror's mutex
  /// held, so it must not call the mirror.
  virtual void put(const std::vector<MirrorChange>& changes) = 0;
};

}  // namespace custodian::recipes_detail
