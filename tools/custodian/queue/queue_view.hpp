#pragma once

/// \file
/// QueueView formats a queue for people and programs. Pure: what was seen in, text out.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "custodian/inspect/inspect.hpp"
#include "queue/surroundings.hpp"
#include "servers/server_answers.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {

struct QueueView {
  std::string path{};
  Inspection inspection{};
  /// The sessions' addresses, as far as they are known; nothing if they are not wanted.
  std::optional<Addresses> addresses{};
  /// When it was seen.
  std::chrono::system_clock::time_point at{};
  /// Other nodes at the path; looked for only where there are no contenders.
  std::optional<Surroundings> around{};
};

/// The words for people and programs alike.
[[nodiscard]] std::string_view to_string(Claim claim) noexcept;
[[nodiscard]] std::string_view to_string(Standing standing) noexcept;

/// The place of each in its own queue, counted from 1.
[[nodiscard]] std::vector<std::size_t> positions_of(const Inspection& inspection);

/// A table and, behind it, the oddities. Ages are those at `now`.
[[nodiscard]] std::vector<std::string> lines_of(const QueueView& view,
                                                std::chrono::system_clock::time_point now);

/// One contender, as an object.
[[nodiscard]] Json json_of(const Inspected& inspected, std::size_t position);

/// The whole queue. Nothing in it depends on when it is printed.
[[nodiscard]] Json json_of(const QueueView& view);

/// A line for people about one contender, without its node: identity, state, since when.
[[nodiscard]] std::string description_of(const Inspected& inspected,
                                         std::chrono::system_clock::time_point now);

}  // namespace custodian::cli
