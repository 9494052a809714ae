#pragma once

/// \file
/// These functions describe an acquire that ended without a lease, and a hold. Pure.

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "custodian/error.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/locks/acquire.hpp"
#include "options/exit_status.hpp"
#include "run/course.hpp"

namespace custodian::cli {

/// The exit status for an error of the library.
[[nodiscard]] ExitStatus status_of(const error_code& error) noexcept;

/// The error for an acquire without a lease; none if another contender was in the way.
[[nodiscard]] error_code error_of(NotAcquired reason) noexcept;

/// Says why `what` ("the lock /p") was not acquired: because of an error, or because the wait was
/// over.
[[nodiscard]] std::string refusal(const std::string& what, const error_code& error,
                                  const std::optional<Participant>& blocked_by);

/// Says which processes of a command that has ended hold `what`.
[[nodiscard]] std::string left_behind(const std::string& what, const std::vector<pid_t>& processes);

/// The variables of a command that runs under the lease, each "NAME=value".
[[nodiscard]] std::vector<std::string> environment_of(const std::string& path, const Lease& lease);

/// The time from a loss until the command is killed: four fifths of the shortest time after which
/// another contender can acquire the lock; the rest is for the kill itself. That shortest time is a
/// tenth of the session timeout if the lease clock has run out, and a second if the maximum time is
/// up. Zero with OnLost::kill.
[[nodiscard]] std::chrono::nanoseconds grace_after_loss(
    OnLost on_lost, std::chrono::nanoseconds session_timeout,
    const std::optional<std::chrono::nanoseconds>& hold_at_most);

}  // namespace custodian::cli
