#pragma once

/// \file
/// What an update does after a try. Pure: answers go in, steps come out.
///
/// A try is one transaction: set the value, if its version is still the one that was read; set the
/// witness, if there is one; check the lock, if there is one. If the reply is lost, the same
/// transaction is sent again. The refusal of that one, and a look at the witness, prove what became
/// of the earlier try:
///
/// - *The value is refused*: its version has moved on. Versions of one node do not come back
///   (except after 2^32 writes), and the node is the same for as long as the witness below it
///   exists. So the earlier try was applied, or never will be. If it was applied it has set the
///   witness, and later updates of this client wait for this one. So the witness shows which of the
///   two is the case.
/// - *The witness or the lock is refused*: its node is gone, and the name of that node is unique.
///   The value still has the expected version, so the earlier try was not applied; and it never
///   will be, since it needs the node that is gone.

#include <cstdint>

#include "custodian/atomics/update_options.hpp"
#include "custodian/error.hpp"

namespace custodian::recipes_detail {

/// The operation that made a transaction fail.
enum class Refused : std::uint8_t { nothing, value, witness, lock };

/// Whether a try was sent whose outcome is not known.
enum class Doubt : std::uint8_t { none, applied_perhaps };

/// The answer to a try. Without `error` it was applied.
struct TryAnswer {
  error_code error{};
  Refused refused = Refused::nothing;
};

enum class Step : std::uint8_t {
  done,           ///< the write was applied
  repeat,         ///< send the same transaction again
  ask_witness,    ///< the witness knows whether an earlier try was applied
  read_again,     ///< another client was quicker
  new_witness,    ///< the witness is gone; nothing was applied
  acquire_again,  ///< the lock is lost; nothing was applied
  fail,           ///< the update ends with end_error()
};

[[nodiscard]] Step after_try(const TryAnswer& answer, Doubt doubt, Settle settle) noexcept;

/// What the witness shows.
enum class Testimony : std::uint8_t { of_this_update, of_another, missing };

/// The step after the witness was read.
[[nodiscard]] Step after_testimony(Testimony testimony) noexcept;

/// The error of an update that ends. In doubt no error may say that nothing was changed.
[[nodiscard]] error_code end_error(const error_code& error, Doubt doubt) noexcept;

}  // namespace custodian::recipes_detail
