#pragma once

/// \file
/// acquire_failure() decides what the end of an acquire means: the lock is busy, or ZooKeeper is
/// away.

#include "custodian/error.hpp"

namespace custodian::recipes_detail {

enum class AcquireFailure {
  busy,    ///< another contender holds the lock, or may hold it
  away,    ///< there is no connection, and no holder has been seen
  failed,  ///< neither of these: the error says why
};

/// What an acquire without a lease saw.
struct AcquireEvidence {
  error_code error;
  bool somebody_ahead = false;
  bool connected = false;  ///< the client was connected, and not suspended, at the end
};

/// In doubt the lock counts as busy. With a connection the answer is never `away`: a server that
/// was merely slow to answer keeps the holder's session alive, and the connection to a server that
/// does not answer at all is soon given up.
[[nodiscard]] AcquireFailure acquire_failure(const AcquireEvidence& seen) noexcept;

}  // namespace custodian::recipes_detail
