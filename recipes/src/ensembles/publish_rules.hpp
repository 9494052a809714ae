#pragma once

/// \file
/// Decides which version a publisher of a moving map writes next, from all copies that it has read.
/// Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "ensembles/map_copy.hpp"

namespace custodian::recipes_detail {

/// The copies by the names of their ensembles; nothing for an ensemble without a copy.
using MapCopies = std::map<std::string, std::optional<MapCopy>>;

/// A version that is to be written.
struct Publication {
  MapCopy next{};
  /// The ensembles whose copies get it, in the order in which they are written. Each of these
  /// copies is read, and written only if it has not changed.
  std::vector<std::string> targets{};
  /// The ensembles whose members must have announced the version before, until this one may be
  /// written anywhere.
  std::vector<std::string> asked{};
};

/// All copies have the newest version, and there is nothing to write.
struct MapAtRest {};
/// Why a publisher cannot go on, as a text.
struct MapFault {
  std::string text;
};

/// The newest copy; null if there is none.
[[nodiscard]] const MapCopy* newest_of(const MapCopies& copies);
/// The ensembles that a version concerns: those of its generation, and while paths move also those
/// of the next generation.
[[nodiscard]] std::set<std::string> concerned_by(const MapCopy& copy);

/// Decides what is written next. If not all ensembles of the newest version have it, it is written
/// to the others. Otherwise, a map that is not stable goes on to the next version. Otherwise
/// `target`, if there is one, begins the next generation, or the first one. `copies` must have all
/// ensembles that the newest copy concerns, and those of `target`.
[[nodiscard]] std::variant<MapAtRest, Publication, MapFault> next_publication(
    const MapCopies& copies, const std::optional<EnsembleLayout>& target);

/// Whether a generation from `first` on, and up to the copy's own, has this layout, whatever
/// version the layout bears.
[[nodiscard]] bool has_been(const MapCopy& copy, EnsembleLayout layout, std::int64_t first);

}  // namespace custodian::recipes_detail
