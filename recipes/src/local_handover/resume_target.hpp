#pragma once

namespace custodian::recipes_detail {

/// ResumeTarget is a waiter without a coroutine, which would cost more memory than everything else
/// of a waiter. For the strand only.
class ResumeTarget {
 public:
  ResumeTarget() = default;
  ResumeTarget(const ResumeTarget&) = delete;
  ResumeTarget& operator=(const ResumeTarget&) = delete;
  virtual ~ResumeTarget() = default;
  virtual void on_woken() = 0;
};

}  // namespace custodian::recipes_detail
