#pragma once

/// \file
/// RecipeView formats a recipe without a queue, such as a barrier, for people and programs. Pure: a
/// description in, text out.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/inspect/inspected_recipe.hpp"
#include "servers/server_answers.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {

struct RecipeView {
  const InspectedRecipe& recipe;
  const std::string& path;
  const std::optional<Addresses>& addresses;
};

/// The name of the recipe's class, the same for people and programs; "value" for a node that may be
/// one of several. Empty if there is no recipe.
[[nodiscard]] std::string_view kind_of(const InspectedRecipe& recipe);

/// The sessions of the clients that take part.
[[nodiscard]] std::vector<std::int64_t> sessions_in(const InspectedRecipe& recipe);

/// A line that says what the recipe is, a table of the clients that take part, and remarks. Ages
/// are relative to `now`. Nothing if there is no recipe.
[[nodiscard]] std::vector<std::string> lines_of(const RecipeView& view,
                                                std::chrono::system_clock::time_point now);

/// The recipe as a JSON object; null if there is none.
[[nodiscard]] Json json_of(const RecipeView& view);

}  // namespace custodian::cli
