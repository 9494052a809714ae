#pragma once

/// \file
/// EnsembleLayout says which of several ensembles is the home of which path: names, weights and
/// pins, without a client. EnsembleMap puts it to use.
///
///     const EnsembleLayout layout{.depth = 2, .ensembles = {{"east", 1}, {"west", 1}}};
///     layout.home_of("/orders/4711");  // "east"; and so for all that is below /orders/4711
///
/// **Where a path has its home.** If pins are above the path, or name it itself, the longest of
/// them decides, by whole components: "/a/b" is above "/a/b/c", and not above "/a/bc". Otherwise
/// the *key* of the path decides, its first `depth` components. Each ensemble has as many tickets
/// as its weight says; each ticket has a score for the key; and the ensemble of the highest score
/// is the home (rendezvous hashing). So an ensemble that is added takes its own share of the keys,
/// and no key moves between the others. An ensemble that is removed leaves its keys to the others,
/// and no other key moves.
///
/// The rule is the same on every machine and in every version, and other languages can compute it:
/// docs/wire-format.md has the bytes and the functions. Ensembles are hashed by their *names*, so
/// the list of an ensemble's servers may change at any time. A name never may.
///
/// Threads: a value; reading it is safe from any thread. Nothing here asks a server.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "custodian/export.hpp"

namespace custodian {

/// The ensembles among which paths are divided, and the rules of the division. Make a layout, or
/// read one with parse(); then pass it to an EnsembleMap.
struct CUSTODIAN_EXPORT EnsembleLayout {
  /// The greatest depth.
  static constexpr int greatest_depth = 16;
  /// The greatest weight of an ensemble.
  static constexpr int greatest_weight = 100;
  /// The greatest number of ensembles.
  static constexpr std::size_t most_ensembles = 1000;

  /// The number of this layout among those that follow each other, from 1 on. The version decides
  /// about no path, but is a part of the fingerprint: layouts of different versions are different
  /// layouts.
  std::int64_t version = 1;
  /// How many components of a path are its key: 1 to `greatest_depth`. Paths with the same key have
  /// the same home, unless a pin decides. A path with fewer components is its own key.
  int depth = 2;
  /// The ensembles by name, with their weights. A name has 1 to 64 letters, digits, dots, dashes
  /// and underscores of ASCII. A weight is 0 to `greatest_weight`: an ensemble of weight 2 gets
  /// twice as many keys as one of weight 1, and one of weight 0 only what is pinned to it. Keep
  /// weights small: home_of() computes as many scores as their sum says.
  std::map<std::string, int> ensembles{};
  /// Paths whose home is set by hand, with all paths below them, and the name of that ensemble.
  std::map<std::string, std::string> pins{};

  /// Reads the text form, which docs/wire-format.md has. Lines may be in any order. A line with an
  /// unknown name is refused, since it may decide about homes. Throws Error (malformed_data), which
  /// names the line and what is wrong with it.
  [[nodiscard]] static EnsembleLayout parse(std::string_view text);

  /// The text form, always the same for equal layouts. The layout must be valid: see check().
  [[nodiscard]] std::string text() const;
  /// 16 hexadecimal digits, the hash of the text form. Layouts with the same fingerprint are equal,
  /// as far as 64 bits can tell: compare it, and log it. The layout must be valid.
  [[nodiscard]] std::string fingerprint() const;
  /// Throws Error (invalid_argument) if the layout breaks a rule: a member that is out of its
  /// limits, no ensemble with a weight above 0, a pin to an ensemble that is not in the layout. The
  /// message names the member and the rule.
  void check() const;
  /// The name of the ensemble that is the home of the path. For many paths take an EnsembleMap,
  /// which is quicker. Throws Error (invalid_argument) if the path or the layout is not valid.
  [[nodiscard]] std::string home_of(std::string_view path) const;

  /// Equal if all members are equal.
  friend bool operator==(const EnsembleLayout&, const EnsembleLayout&) = default;
};

}  // namespace custodian
