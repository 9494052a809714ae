#pragma once

/// \file
/// The waits of the commands barrier and latch.

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "custodian/client.hpp"

namespace custodian::cli {

/// The group of these commands in the help.
inline constexpr const char* waiting_group = "Commands that wait for others, and keep them waiting";

/// `wait` must outlive the parsing.
void add_wait_option(CLI::App& command, std::optional<std::chrono::nanoseconds>& wait);

/// What a command waits for.
struct Awaited {
  std::function<void()> wait;                              ///< without limit
  std::function<bool(std::chrono::nanoseconds)> wait_for;  ///< false if too late
  std::function<bool()> is_over;                           ///< asks the servers once
  std::string when_late;  ///< the message for a wait that was too long
};
/// Waits, and returns the exit status. If the limit passes, prints `when_late`, or that no server
/// answers. A limit of zero asks the servers once; without a limit the wait ends only by its event,
/// or by an Error.
[[nodiscard]] int wait_for(const Client& client, const Awaited& awaited,
                           const std::optional<std::chrono::nanoseconds>& limit);

}  // namespace custodian::cli
