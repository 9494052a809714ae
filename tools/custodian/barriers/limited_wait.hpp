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

/// The help's group of these commands.
inline constexpr const char* waiting_group = "Commands that wait for others, and keep them waiting";

/// `wait` must outlive the parsing.
void add_wait_option(CLI::App& command, std::optional<std::chrono::nanoseconds>& wait);

/// What a command waits for.
struct Awaited {
  std::function<void()> wait;                              ///< without limit
  std::function<bool(std::chrono::nanoseconds)> wait_for;  ///< whether it was in time
  std::function<bool()> is_over;                           ///< asks the servers once
  std::string when_late;                                   ///< for people
};
/// Waits, and returns the exit status: without a limit; or says that it is late, or that no server
/// has answered.
[[nodiscard]] int wait_for(const Client& client, const Awaited& awaited,
                           const std::optional<std::chrono::nanoseconds>& limit);

}  // namespace custodian::cli
