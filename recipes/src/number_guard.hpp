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

#include "contender_queue.hpp"

namespace custodian::recipes_detail {

class NumberGuard : public std::enable_shared_from_this<NumberGuard> {
 public:
  /// A stretch of time in which the parent was one and the same, as this connection shows it.
  using Epoch = std::uint64_t;
  static constexpr Epoch none = 0;

  /// Numbers that were told in the same epoch may be compared.
  [[nodiscard]] Epoch epoch(const Queue& queue) const;
  /// Begins an epoch as soon as the servers have answered, unless there is one.
  void begin(const Queue& queue);

 private:
  Watch watch_;
  Epoch epoch_ = none;
  std::uint64_t connection_ = 0;
  /// The connection on which an answer was asked for.
  std::uint64_t asked_on_ = 0;
};

}  // namespace custodian::recipes_detail
