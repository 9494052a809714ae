#pragma once

namespace custodian::recipes_detail {

/// ResumeTarget is a waiter that has no coroutine: a coroutine would cost more memory than the rest
/// of the waiter. Used on the strand only.
class ResumeTarget {
 public:
  ResumeTarget() = default;
  ResumeTarget(const ResumeTarget&) = delete;
  ResumeTarget& operator=(const ResumeTarget&) = delete;
  virtual ~ResumeTarget() = default;
  virtual void on_woken() = 0;
};

}  // namespace custodian::recipes_detail
