#pragma once

/// \file
/// Whether the numbers of two contenders may be compared without a listing. For the strand only.
///
/// A server numbers sequential nodes by how many children their parent has ever had. So nobody was
/// ever between two of them whose numbers follow each other, if the parent has not been deleted and
/// made anew meanwhile: then they start again. A watch on the parent tells. What one connection
/// brings comes in the order of the changes: a reply to the create of a node in a new parent comes
/// behind the event that the old one has gone.

#include <cstdint>
#include <memory>

#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// A stretch of time in which the parent was one and the same, as one connection shows it; 0 if
/// nobody can tell.
using ParentEra = std::uint64_t;

/// A contender's number, and when it was told.
struct NumberTold {
  Sequence number = 0;
  ParentEra era = 0;
};

/// Whether nobody was ever between the two.
[[nodiscard]] constexpr bool follows(const NumberTold& later, const NumberTold& earlier) noexcept {
  return later.era != 0 && later.era == earlier.era && later.number == earlier.number + 1;
}

class SequenceContinuity : public std::enable_shared_from_this<SequenceContinuity> {
 public:
  /// Of what is told now.
  [[nodiscard]] ParentEra era(const LockSpec& spec) const;
  /// Begins an epoch as soon as the servers have answered, unless there is one.
  void begin(const LockSpec& spec);

 private:
  Watch watch_;
  ParentEra era_ = 0;
  std::uint64_t connection_ = 0;
  /// The connection on which an answer was asked for.
  std::uint64_t asked_on_ = 0;
};

}  // namespace custodian::recipes_detail
