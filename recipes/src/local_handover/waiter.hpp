#pragma once

namespace custodian::recipes_detail {

/// Waits for something without a coroutine, which would cost more memory than all that it is about.
/// For the strand only.
class Waiter {
 public:
  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  virtual ~Waiter() = default;
  virtual void on_woken() = 0;
};

}  // namespace custodian::recipes_detail
