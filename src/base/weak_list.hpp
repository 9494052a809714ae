#pragma once

/// \file
/// WeakList holds weak pointers to registrations, whose owners may drop them at any time without
/// notice.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace custodian::detail {

/// add() erases dropped registrations when there are 16 entries, or twice as many as the last
/// erasure has left if that is more. So an addition costs the same on average, however many entries
/// there are; and there are at most 16 entries, or twice as many as were ever alive at once. (A
/// dropped registration keeps its memory until it is erased: std::make_shared allocates the counts
/// with the object.) Not synchronised.
template <typename T>
class WeakList {
 public:
  void add(const std::shared_ptr<T>& each) {
    if (entries_.size() >= sweep_at_) sweep();
    entries_.push_back(each);
  }

  /// The registrations that are left, in the order in which they came.
  [[nodiscard]] const std::vector<std::weak_ptr<T>>& alive() {
    sweep();
    return entries_;
  }

  /// The number of entries, dropped ones included.
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
