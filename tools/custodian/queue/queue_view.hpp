#pragma once

/// \file
/// A queue as it is shown. Pure: what was seen in, text out.

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
  /// Of the sessions, as far as they are known; nothing if nobody wants to know.
  std::optional<Addresses> addresses{};
  /// When it was seen.
  std::chrono::system_clock::time_point at{};
  /// What else is there; looked for only where there are no contenders.
  std::optional<Surroundings> around{};
};

/// The words for people and programs alike.
[[nodiscard]] std::string_view to_string(Claim claim) noexcept;
[[nodiscard]] std::string_view to_string(Standing standing) noexcept;

/// The place of each in its own queue, counted from 1.
[[nodiscard]] std::vector<std::size_t> positions_of(const Inspection& inspection);

/// A table and, behind it, what is odd. Ages are those at `now`.
[[nodiscard]] std::vector<std::string> lines_of(const QueueView& view,
                                                std::chrono::system_clock::time_point now);

/// One of a queue, as an object.
[[nodiscard]] Json json_of(const Inspected& inspected, std::size_t position);

/// All of it. Nothing in it depends on when it is printed.
[[nodiscard]] Json json_of(const QueueView& view);

/// A line for people about one of a queue, but for its node: who, what, since when.
[[nodiscard]] std::string description_of(const Inspected& inspected,
                                         std::chrono::system_clock::time_point now);

}  // namespace custodian::cli
