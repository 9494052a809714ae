#pragma once

/// \file
/// What transact() does after a commit. Pure: answers go in, steps come out.
///
/// With a witness the transaction begins with the create of a node of a unique name. If the reply
/// is lost, the same transaction is sent again. Within one session the witness lives as long as
/// nobody deletes it. So an answer to the repetition proves what became of the earlier try:
///
/// - *The witness is refused*, because its node exists: the earlier try was applied.
/// - *A version that was read is refused*: the version has moved on, and the witness does not
///   exist. So the earlier try was not applied, and never will be, for it relies on the same
///   versions.
/// - *The repetition is applied*: the earlier try was not. The servers may still come to the
///   earlier try, and refuse it as long as the witness exists: so the witness of a doubtful try
///   stays until the end of the session.
/// - *A node exists that was missing*, or *something else is refused*: the earlier try was not
///   applied, but may be yet.
///
/// In another session an answer proves nothing, because the witness ended with the first session.
/// So a repetition also checks a second node of the first session, and is never applied in another
/// one.

#include <cstdint>

#include "atomics/update_step.hpp"
#include "custodian/error.hpp"

namespace custodian::recipes_detail {

/// The operation that made the commit fail.
enum class CommitRefused : std::uint8_t {
  nothing,      ///< no operation: the transaction failed as a whole
  witness,      ///< the create of the witness: its node exists
  conflicting,  ///< an operation that relies on what was read
  other,
};

/// Whether the session is the one of the first try.
enum class SessionIs : std::uint8_t { the_same, another };

enum class CommitStep : std::uint8_t {
  done,
  repeat,  ///< send the same transaction again
  again,   ///< another client was quicker: call the function again
  fail,    ///< with end_error()
};

[[nodiscard]] CommitStep after_commit(const error_code& error, CommitRefused refused, Doubt doubt,
                                      SessionIs session, Settle settle) noexcept;

}  // namespace custodian::recipes_detail
