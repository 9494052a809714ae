#pragma once

/// \file
/// What a publisher of a moving map writes next, by what it has read of all copies. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "ensembles/map_copy.hpp"

namespace custodian::recipes_detail {

/// The copies by their ensembles; nothing for an ensemble that has none.
using MapCopies = std::map<std::string, std::optional<MapCopy>>;

/// A version that is to be written.
struct Publication {
  MapCopy next{};
  /// The ensembles whose copies get it, in the order in which they are written. Each of these
  /// copies is read, and written only if it has not changed.
  std::vector<std::string> targets{};
  /// The ensembles whose members must have announced the version in front of it, before it is
  /// written anywhere.
  std::vector<std::string> asked{};
};

/// All copies have the version, and there is nothing to write.
struct MapAtRest {};
/// Why a publisher cannot go on, in words.
struct MapFault {
  std::string text;
};

/// The newest copy; null if there is none.
[[nodiscard]] const MapCopy* newest_of(const MapCopies& copies);
/// The ensembles whose copies a version concerns: those of its generation, and while paths move
/// those of the next one.
[[nodiscard]] std::set<std::string> concerned_by(const MapCopy& copy);

/// What is written next. A version that not all of its ensembles have is written to the others;
/// then a map that is not stable goes on to the next version; then `target`, if there is one,
/// begins the next generation, or the first one. `copies` has all ensembles that the newest copy
/// concerns, and those of `target`.
[[nodiscard]] std::variant<MapAtRest, Publication, MapFault> next_publication(
    const MapCopies& copies, const std::optional<EnsembleLayout>& target);

/// Whether a generation from `first` on has this layout, whatever its version is.
[[nodiscard]] bool has_been(const MapCopy& copy, EnsembleLayout layout, std::int64_t first);

}  // namespace custodian::recipes_detail
