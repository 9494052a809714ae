#pragma once

/// \file
/// The rules of an InterProcessBarrier's phases. Pure.
///
/// The version of the barrier's data is the number of the phase that is under way. An arrival is a
/// node below the barrier whose name contains that number. One transaction ends the phase: it
/// removes the nodes of the arrivals, and adds their names to the barrier's data, which keep the
/// names of the last phases. So an arrival counts in one phase only, even if its node is created
/// again: a create whose reply was lost may be applied late.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/node.hpp"
#include "custodian/transaction.hpp"

namespace custodian::recipes_detail {

/// The name of an arrival at this phase, behind the id of its create.
[[nodiscard]] std::string arrival_name(std::int32_t phase);

/// The arrivals with which a phase ends, in the order of their names; nothing if there are too few.
/// Other children of the barrier are ignored.
[[nodiscard]] std::vector<std::string> arrivals_of_phase(std::vector<std::string> children,
                                                         std::int32_t expected, std::int32_t phase);
/// The transaction that ends this phase, if the phase is under way. `before` are the barrier's data
/// so far. The names of earlier phases stay in the data, the last phase's in any case, and a
/// phase's names stay or go together.
[[nodiscard]] Transaction ending_phase(const std::string& path,
                                       const std::vector<std::string>& arrivals, std::int32_t phase,
                                       std::string before);

/// The largest transaction that can end a phase of `expected` arrivals.
[[nodiscard]] Transaction longest_ending(const std::string& path, std::int32_t expected);

/// The fate of an arrival at a phase.
enum class Arrival : std::uint8_t {
  waits,      ///< the phase is under way
  passed,     ///< the phase has ended with it
  left_over,  ///< the phase has ended without it, or the barrier's node is another one
  unknown,    ///< the phase is not in the data any more: the arrival has passed if its node is gone
};
/// `barrier` is the barrier's node, read from a server that has seen the arrival's node.
[[nodiscard]] Arrival fate_of(const GetResult& barrier, std::string_view arrival,
                              std::int32_t phase);

/// Whether the node of an arrival that has passed is certainly gone. The transaction `czxid` has
/// created the node. A create whose reply was lost is repeated, and may make a node of the same
/// name after the end of the phase.
[[nodiscard]] bool is_certainly_gone(const GetResult& barrier, std::int32_t phase,
                                     std::int64_t czxid);

}  // namespace custodian::recipes_detail
