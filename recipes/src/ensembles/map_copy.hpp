#pragma once

/// \file
/// MapCopy is a moving map as each ensemble has it: a version, and all generations of the layout.
/// docs/moving-map.md has the protocol. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "custodian/ensembles/ensemble_layout.hpp"
#include "ensembles/layout_text.hpp"

namespace custodian::recipes_detail {

/// Where paths are, by a version of the map; g is a generation.
enum class MapPhase {
  stable,  ///< 3 g: a path is at its home of generation g
  moving,  ///< 3 g + 1: it is at its home of generation g, and at that of g + 1
  turned,  ///< 3 g + 2: as `moving`, but tokens follow the home of generation g + 1
};

[[nodiscard]] constexpr MapPhase phase_of(std::int64_t version) noexcept {
  return static_cast<MapPhase>(version % 3);
}
/// The generation g of a version. Generations are numbered from 1.
[[nodiscard]] constexpr std::int64_t generation_of(std::int64_t version) noexcept {
  return version / 3;
}
/// The last generation of a version: the one to which paths move, or have moved.
[[nodiscard]] constexpr std::int64_t last_generation_of(std::int64_t version) noexcept {
  return generation_of(version) + (phase_of(version) == MapPhase::stable ? 0 : 1);
}
/// The version of a map that has never moved.
inline constexpr std::int64_t first_map_version = 3;

struct MapCopy {
  std::int64_t version = first_map_version;
  /// Each generation's number is its layout's version: 1, 2, and so on to
  /// last_generation_of(version).
  std::vector<EnsembleLayout> generations{};

  /// A generation by its number. The copy must have it.
  [[nodiscard]] const EnsembleLayout& generation(std::int64_t number) const {
    return generations[static_cast<std::size_t>(number - 1)];
  }

  friend bool operator==(const MapCopy&, const MapCopy&) = default;
};

/// The first rule that a copy breaks; nothing if it breaks none.
[[nodiscard]] std::optional<std::string> copy_fault(const MapCopy& copy);

/// Whether both copies are of the same map: the older one's generations are the newer one's first.
[[nodiscard]] bool continues(const MapCopy& newer, const MapCopy& older);

/// The text form. The copy must be valid.
[[nodiscard]] std::string encode(const MapCopy& copy);
/// A copy that is returned is valid.
[[nodiscard]] std::variant<MapCopy, LayoutFault> decode_copy(std::string_view text);

}  // namespace custodian::recipes_detail
