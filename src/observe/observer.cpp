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

}  // namespace custodian
