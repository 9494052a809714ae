#pragma once

/// \file
/// SequenceContinuity decides whether the numbers of two contenders may be compared without a
/// listing. Used on the strand only.
///
/// A server numbers sequential nodes by how many children their parent has ever had. So if the
/// numbers of two contenders follow each other, no contender was ever between them, unless the
/// parent was deleted and created anew meanwhile: then the numbers start again. A watch on the
/// parent shows that. On one connection messages arrive in the order of the changes: the event of
/// the old parent's deletion comes before the reply to a create in the new parent.

#include <cstdint>
#include <memory>

#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// The number of a period in which one connection has shown that the parent is still the same node;
/// 0 if that is unknown.
using ParentEra = std::uint64_t;

/// A contender's number, and the era in which it was received.
struct NumberTold {
  Sequence number = 0;
  ParentEra era = 0;
};

/// Whether the numbers show that no contender was ever between the two.
[[nodiscard]] constexpr bool follows(const NumberTold& later, const NumberTold& earlier) noexcept {
  return later.era != 0 && later.era == earlier.era && later.number == earlier.number + 1;
}

class SequenceContinuity : public std::enable_shared_from_this<SequenceContinuity> {
 public:
  /// The era of numbers that are received now; 0 if it is unknown.
  [[nodiscard]] ParentEra era(const LockSpec& spec) const;
  /// Begins an era, unless there is one; the era begins when the servers have answered.
  void begin(const LockSpec& spec);

 private:
  Watch watch_;
  ParentEra era_ = 0;
  std::uint64_t connection_ = 0;
  /// The connection on which the watch was last requested.
  std::uint64_t asked_on_ = 0;
};

}  // namespace custodian::recipes_detail
