#pragma once

/// \file
/// SharedByKey finds the one object that all users of a key share, for as long as one of them owns
/// it. Pure.

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace custodian::recipes_detail {

template <typename Key, typename T, template <typename...> typename Map = std::map>
class SharedByKey {
 public:
  /// The key's object. If it has no owner, `make()` makes a new one, and returns a
  /// `std::shared_ptr<T>`.
  template <typename Make>
  [[nodiscard]] std::shared_ptr<T> find_or_make(Key key, Make make) {
    std::weak_ptr<T>& known = all_[std::move(key)];
    std::shared_ptr<T> object = known.lock();
    if (object) return object;
    object = make();
    known = object;
    if (all_.size() >= forget_at_) {
      std::erase_if(all_, [](const auto& each) { return each.second.expired(); });
      forget_at_ = 2 * all_.size() + 16;
    }
    return object;
  }

  /// All objects that have an owner.
  [[nodiscard]] std::vector<std::shared_ptr<T>> all() const {
    std::vector<std::shared_ptr<T>> owned;
    for (const auto& [key, weak] : all_) {
      if (std::shared_ptr<T> object = weak.lock()) owned.push_back(std::move(object));
    }
    return owned;
  }

  /// The number of keys in the map. Keys whose objects are gone are removed from time to time.
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  Map<Key, std::weak_ptr<T>> all_;
  std::size_t forget_at_ = 16;
};

}  // namespace custodian::recipes_detail
