#pragma once

/// \file
/// ChangeStream keeps the changes that the user of a mirror has not asked for yet. Used on the
/// strand only.

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "mirror/change_feed.hpp"

namespace custodian::recipes_detail {

class ChangeStream final : public ChangeFeed {
 public:
  void put(const std::vector<MirrorChange>& changes) override {
    changes_.insert(changes_.end(), changes.begin(), changes.end());
  }
  [[nodiscard]] std::optional<MirrorChange> take() {
    if (changes_.empty()) return std::nullopt;
    MirrorChange next = std::move(changes_.front());
    changes_.pop_front();
    return next;
  }

 private:
  std::deque<MirrorChange> changes_;
};

}  // namespace custodian::recipes_detail
