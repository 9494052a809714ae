#pragma once

/// \file
/// QueueView formats a queue for people and programs. Pure: an inspection in, text out.

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
  /// The known addresses of the sessions; nothing if the user does not want to see them.
  std::optional<Addresses> addresses{};
  /// The time of the inspection.
  std::chrono::system_clock::time_point at{};
  /// Other nodes at the path; searched for only if there are no contenders.
  std::optional<Surroundings> around{};
};

/// The word for a claim, the same for people and programs.
[[nodiscard]] std::string_view to_string(Claim claim) noexcept;
[[nodiscard]] std::string_view to_string(Standing standing) noexcept;

/// The position of each contender in its own queue, counted from 1.
[[nodiscard]] std::vector<std::size_t> positions_of(const Inspection& inspection);

/// A table of the contenders, followed by remarks on other nodes. Ages are relative to `now`.
[[nodiscard]] std::vector<std::string> lines_of(const QueueView& view,
                                                std::chrono::system_clock::time_point now);

/// One contender, as a JSON object.
[[nodiscard]] Json json_of(const Inspected& inspected, std::size_t position);

/// The whole queue, as JSON, which does not depend on the time of printing.
[[nodiscard]] Json json_of(const QueueView& view);

/// A line for people about one contender: its identity, its state, and since when. The node is left
/// out.
[[nodiscard]] std::string description_of(const Inspected& inspected,
                                         std::chrono::system_clock::time_point now);

}  // namespace custodian::cli
