#pragma once

/// \file
/// Listeners calls the functions that are subscribed to an object's changes.

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "custodian/connection_state.hpp"

namespace custodian::recipes_detail {

/// Any thread. A listener gets every notification that begins after add(), in their order; the
/// calls do not overlap, even if several threads run the executor.
template <typename... Arguments>
class Listeners {
 public:
  using Listener = std::function<void(Arguments...)>;

  explicit Listeners(const boost::asio::any_io_executor& callbacks) : turn_{callbacks} {}

  [[nodiscard]] Subscription add(Listener listener) {
    auto registration = std::make_shared<Listener>(std::move(listener));
    const std::lock_guard lock{mutex_};
    std::erase_if(all_, [](const auto& each) { return each.expired(); });
    all_.push_back(registration);
    return Subscription{std::move(registration)};
  }

  void notify(Arguments... arguments) {
    std::vector<std::weak_ptr<Listener>> present;
    {
      const std::lock_guard lock{mutex_};
      present = all_;
    }
    if (present.empty()) return;
    boost::asio::post(turn_, [present = std::move(present), arguments...] {
      for (const auto& weak : present) {
        if (const auto listener = weak.lock()) (*listener)(arguments...);
      }
    });
  }

 private:
  boost::asio::strand<boost::asio::any_io_executor> turn_;
  std::mutex mutex_;  ///< guards what follows
  std::vector<std::weak_ptr<Listener>> all_;
};

}  // namespace custodian::recipes_detail
