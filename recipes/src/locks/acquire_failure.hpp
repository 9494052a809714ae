#pragma once

/// \file
/// What the end of an acquire says of the lock and of ZooKeeper.

#include "custodian/error.hpp"

namespace custodian::recipes_detail {

enum class AcquireFailure {
  busy,    ///< somebody else is in, or may be
  away,    ///< there is no connection, and nobody has been seen in
  failed,  ///< neither: the error says what
};

/// What an acquire saw that ended without a lease.
struct AcquireEvidence {
  error_code error;
  bool somebody_ahead = false;
  bool connected = false;  ///< and not suspended, when the acquire had ended
};

/// Doubt is no permission. With a connection it is never away: a server that was merely slow to
/// answer keeps the holder's session alive; one that does not answer at all is soon no connection.
[[nodiscard]] AcquireFailure acquire_failure(const AcquireEvidence& seen) noexcept;

}  // namespace custodian::recipes_detail
