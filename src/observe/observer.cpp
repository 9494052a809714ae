#include "custodian/observer.hpp"

namespace custodian {

std::string_view to_string(AcquireOutcome outcome) noexcept {
  switch (outcome) {
    case AcquireOutcome::acquired: return "acquired";
    case AcquireOutcome::late: return "late";
    case AcquireOutcome::declined: return "declined";
    case AcquireOutcome::cancelled: return "cancelled";
    case AcquireOutcome::failed: return "failed";
  }
  return "unknown";
}

std::string_view to_string(WaitOutcome outcome) noexcept {
  switch (outcome) {
    case WaitOutcome::passed: return "passed";
    case WaitOutcome::late: return "late";
    case WaitOutcome::spurious: return "spurious";
    case WaitOutcome::cancelled: return "cancelled";
    case WaitOutcome::failed: return "failed";
  }
  return "unknown";
}

std::string_view to_string(KeptLockEnd reason) noexcept {
  switch (reason) {
    case KeptLockEnd::wanted: return "wanted";
    case KeptLockEnd::own_contender: return "own_contender";
    case KeptLockEnd::unused: return "unused";
    case KeptLockEnd::aged: return "aged";
    case KeptLockEnd::crowded: return "crowded";
    case KeptLockEnd::unusable: return "unusable";
    case KeptLockEnd::closed: return "closed";
  }
  return "unknown";
}

}  // namespace custodian
