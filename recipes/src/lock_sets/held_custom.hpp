#pragma once

/// \file
/// HeldCustom is a custom lock that a group holds.

#include <memory>
#include <stop_token>
#include <string>

#include "custodian/client.hpp"
#include "custodian/lock_sets/custom_lock.hpp"

namespace custodian::recipes_detail {

/// The destructor releases the lock: in the thread that runs the destructor, but on the callback
/// executor if that thread runs the client's strand. All shares of a LeaseGroup own this object
/// together.
class HeldCustom {
 public:
  /// `home` is the client of the group, for its executors and its log.
  HeldCustom(const Client& home, std::string name, std::unique_ptr<CustomHold> hold);
  HeldCustom(const HeldCustom&) = delete;
  HeldCustom& operator=(const HeldCustom&) = delete;
  ~HeldCustom();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::stop_token& lost() const noexcept { return lost_; }
  [[nodiscard]] bool is_lost() const noexcept { return lost_.stop_requested(); }

 private:
  /// Releases the lock on the callback executor: on the strand user code would hold up the client.
  void release_elsewhere();

  const Client home_;
  const std::string name_;
  std::unique_ptr<CustomHold> hold_;
  const std::stop_token lost_;
};

}  // namespace custodian::recipes_detail
