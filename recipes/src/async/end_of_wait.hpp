#pragma once

/// \file
/// end_of_wait() is the limit of a blocking wait that is no acquire.

#include "custodian/client.hpp"
#include "custodian/deadline.hpp"

namespace custodian::recipes_detail {

/// The time at which a blocking wait until `until` ends at the latest; never if that is a default
/// deadline. A wait whose deadline has passed already looks once, and has an operation's time for
/// the answer: without it, the call would return before the client's context could give one.
[[nodiscard]] inline Deadline end_of_wait(const Client& client, Deadline until) {
  return until.passed() ? client.deadline_or_default(Deadline{})
                        : until.or_default(Deadline::never());
}

}  // namespace custodian::recipes_detail
