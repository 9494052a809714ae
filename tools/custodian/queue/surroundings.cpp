#include "queue/surroundings.hpp"

#include <algorithm>

#include "queue/recipe_view.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {

std::optional<Inspection> inspect_if_allowed(const Client& client, const std::string& path) {
  try {
    return inspect(client, path);
  } catch (const Error& error) {
    if (error.code() != ServerErrc::no_auth) throw;
    return std::nullopt;
  }
}

Surroundings look_around(const Client& client, const std::string& path, const Inspection& seen) {
  Surroundings around;
  if (!seen.contenders.empty()) return around;
  const auto stat = client.exists(path);
  around.exists = stat.has_value();
  if (stat) around.data_length = static_cast<std::size_t>(stat->data_length);
  const std::size_t looked_at = std::min(seen.foreign.size(), most_looked_at);
  around.not_looked_at = seen.foreign.size() - looked_at;
  for (std::size_t i = 0; i < looked_at; ++i) {
    const std::string& child = seen.foreign[i];
    const auto inspection = inspect_if_allowed(client, child);
    if (!inspection) around.closed.push_back(child);
    if (!inspection) continue;
    const bool is_value = std::holds_alternative<InspectedValue>(inspection->recipe);
    const std::string_view kind = kind_of(inspection->recipe);
    if (!kind.empty() && !is_value) around.recipes_below.push_back({child, std::string{kind}});
    if (inspection->contenders.empty()) continue;
    const auto waiting =
        std::ranges::count(inspection->contenders, Standing::waits, &Inspected::standing);
    around.below.push_back(
        {.path = child,
         .holding = inspection->contenders.size() - static_cast<std::size_t>(waiting),
         .waiting = static_cast<std::size_t>(waiting)});
  }
  return around;
}

bool is_named(const Surroundings& around, const std::string& child) {
  return std::ranges::count(around.below, child, &LockBelow::path) > 0 ||
         std::ranges::count(around.recipes_below, child, &RecipeBelow::path) > 0;
}

std::vector<std::string> lines_of(const Surroundings& around) {
  std::vector<std::string> lines;
  if (!around.exists) {
    lines.emplace_back("the path does not exist: nobody has ever locked it, or it is misspelt");
  }
  if (around.data_length > 0) {
    lines.push_back("the path has data of its own: " + std::to_string(around.data_length) +
                    " bytes");
  }
  for (const std::string& child : around.closed) {
    lines.push_back("may not be looked at with these credentials: " + printable(child));
  }
  for (const LockBelow& lock : around.below) {
    lines.push_back("a lock below: " + printable(lock.path) + " (" + std::to_string(lock.holding) +
                    " hold, " + std::to_string(lock.waiting) + " wait)");
  }
  for (const RecipeBelow& recipe : around.recipes_below) {
    lines.push_back("below: " + printable(recipe.path) + " (" + recipe.kind + ")");
  }
  if (around.not_looked_at > 0) {
    lines.push_back(std::to_string(around.not_looked_at) + " children more were not looked at");
  }
  return lines;
}

void put_surroundings(Json& json, const Surroundings& around) {
  json["exists"] = around.exists;
  json["data_length"] = around.data_length;
  json["closed"] = around.closed;
  json["not_looked_at"] = around.not_looked_at;
  json["below"] = Json::array();
  for (const LockBelow& lock : around.below) {
    json["below"].push_back(
        {{"path", lock.path}, {"holding", lock.holding}, {"waiting", lock.waiting}});
  }
  json["recipes_below"] = Json::array();
  for (const RecipeBelow& recipe : around.recipes_below) {
    json["recipes_below"].push_back({{"path", recipe.path}, {"kind", recipe.kind}});
  }
}

}  // namespace custodian::cli
