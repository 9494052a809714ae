#pragma once

/// \file
/// Surroundings describe a path without contenders: whether it exists, and the locks and other
/// recipes directly below it.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/inspect/inspect.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {

struct LockBelow {
  std::string path{};
  std::size_t holding = 0;
  std::size_t waiting = 0;
};

/// A barrier, a latch, a condition or a rate limiter. A value is not one: it may be a node of
/// another program.
struct RecipeBelow {
  std::string path{};
  std::string kind{};  ///< see kind_of()
};

struct Surroundings {
  bool exists = true;
  std::vector<LockBelow> below{};
  std::vector<RecipeBelow> recipes_below{};
  /// The length of the node's data, in bytes.
  std::size_t data_length = 0;
  /// Children that these credentials may not read.
  std::vector<std::string> closed{};
  /// The number of children that were not read.
  std::size_t not_looked_at = 0;
};

/// The most children that are read: each costs a request or more.
inline constexpr std::size_t most_looked_at = 100;

/// Inspects a child; nothing if these credentials may not read it. Throws Error for any other
/// failure.
[[nodiscard]] std::optional<Inspection> inspect_if_allowed(const Client& client,
                                                           const std::string& path);

/// Asks the servers about the surroundings of a path whose inspection is `seen`. Asks nothing if
/// `seen` has contenders. Throws Error.
[[nodiscard]] Surroundings look_around(const Client& client, const std::string& path,
                                       const Inspection& seen);

/// Whether the surroundings name this child as a lock or another recipe.
[[nodiscard]] bool is_named(const Surroundings& around, const std::string& child);

/// The text for people; empty if there is nothing to say.
[[nodiscard]] std::vector<std::string> lines_of(const Surroundings& around);

/// Adds the fields "exists", "data_length", "closed", "not_looked_at", "below" and
/// "recipes_below".
void put_surroundings(Json& json, const Surroundings& around);

}  // namespace custodian::cli
