#pragma once

/// \file
/// What transact() does after a commit. Pure: answers go in, steps come out.
///
/// With a witness the transaction begins with the create of a node of a unique name. If the reply
/// is lost, the same transaction is sent again. Within the same session the witness lives as long
/// as nobody deletes it. So why an answer to the repetition proves what became of the earlier try:
///
/// - *The witness is refused*, for its node exists: the earlier try was applied.
/// - *What was read is refused*: the versions have moved on, and the witness is not there. So the
///   earlier try was not applied; and it never will be, for it relies on the same versions.
/// - *It is applied*: the earlier try was not. Servers may still come to it, and refuse it as long
///   as the witness exists: so a witness of a doubtful try stays for as long as the session.
/// - *A node exists that was missing*, or *something else is refused*: the earlier try was not
///   applied, but may be yet.
///
/// In another session nothing is known: the end of the first has taken the witness along. So that
/// no repetition is applied there it checks a second node of the first session.

#include <cstdint>

#include "atomics/update_step.hpp"
#include "custodian/error.hpp"

namespace custodian::recipes_detail {

/// The operation that made the commit fail.
enum class CommitRefused : std::uint8_t {
  nothing,      ///< none of them: the error is of the whole
  witness,      ///< the create of the witness: its node exists
  conflicting,  ///< one that relies on what was read
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
