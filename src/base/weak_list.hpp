#pragma once

/// \file
/// Registrations that belong to others, who may drop them at any time without a word.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace custodian::detail {

/// Forgets those that are gone when there are twice as many as were left the last time: adding
/// costs the same however many there are, and what is kept is at most twice what was ever alive at
/// once. (What is gone keeps its memory until it is forgotten: std::make_shared allocates the
/// counts with the object.) Not synchronised.
template <typename T>
class WeakList {
 public:
  void add(const std::shared_ptr<T>& each) {
    if (entries_.size() >= sweep_at_) sweep();
    entries_.push_back(each);
  }

  /// Those that are left, in the order in which they came.
  [[nodiscard]] const std::vector<std::weak_ptr<T>>& alive() {
    sweep();
    return entries_;
  }

  /// How many are kept, those that are gone included.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  static constexpr std::size_t least = 16;

  void sweep() {
    std::erase_if(entries_, [](const auto& each) { return each.expired(); });
    sweep_at_ = std::max(least, 2 * entries_.size());
  }

  std::vector<std::weak_ptr<T>> entries_;
  std::size_t sweep_at_ = least;
};

}  // namespace custodian::detail
