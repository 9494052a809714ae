#pragma once

/// \file
/// What is told of an acquire that has come to nothing. Pure.

#include <chrono>
#include <optional>
#include <string>

#include "custodian/error.hpp"
#include "custodian/locks/acquire.hpp"
#include "options/exit_status.hpp"
#include "run/course.hpp"

namespace custodian::cli {

/// The exit status for an error of the library.
[[nodiscard]] ExitStatus status_of(const error_code& error) noexcept;

/// The error that an acquire without a lease stands for; none if somebody was in the way.
[[nodiscard]] error_code error_of(NotAcquired reason) noexcept;

/// Why `what` ("the lock /p") was not had: by an error, or since it came too late.
[[nodiscard]] std::string refusal(const std::string& what, const error_code& error,
                                  const std::optional<Participant>& blocked_by);

/// How long the command has after a loss, until it is killed: four fifths of what it takes at the
/// least until somebody else can have the lock, and the rest is for the kill itself. That is a
/// tenth of the session timeout, if the lease clock has run out, and a second, if the maximum time
/// is up.
[[nodiscard]] std::chrono::nanoseconds grace_after_loss(
    OnLost on_lost, std::chrono::nanoseconds session_timeout,
    const std::optional<std::chrono::nanoseconds>& hold_at_most);

}  // namespace custodian::cli
