#pragma once

/// \file
/// Keeper is what KeptLocks knows of an object that keeps a lock's nodes for its client.

#include <chrono>

#include "acquire/newcomers.hpp"
#include "custodian/observer.hpp"

namespace custodian::recipes_detail {

class Keeper : public NewcomerListener {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Ends the keeping of the present node: an idle node is deleted at once, any other one when its
  /// holder releases it.
  virtual void end_keeping(KeptLockEnd reason) = 0;
  /// Ends the keeping of the present node and of all later ones.
  virtual void close() = 0;
  /// Ends the keeping of a node that is too old, or has not been used for too long. Returns whether
  /// the object is worth remembering: it has a node or waiters, or was used in the last minute.
  [[nodiscard]] virtual bool sweep(Time now) = 0;
  /// Whether the node has had another holder since the last call.
  [[nodiscard]] virtual bool is_popular() noexcept = 0;
  /// The client's context is destroyed: destroys the waiters' handlers, as Asio destroys its own,
  /// and the nodes.
  virtual void abandon() = 0;
  [[nodiscard]] virtual std::chrono::nanoseconds keep_idle_for() const noexcept = 0;
};

using KeeperPtr = std::shared_ptr<Keeper>;

}  // namespace custodian::recipes_detail
