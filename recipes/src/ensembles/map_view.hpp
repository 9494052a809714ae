#pragma once

/// \file
/// MapView computes, from a copy of a moving map, the homes of a path and the number in front of
/// the path's tokens. Pure.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/lease/fencing_token.hpp"
#include "ensembles/home_choice.hpp"
#include "ensembles/map_copy.hpp"

namespace custodian::recipes_detail {

/// Threads: any. Immutable.
class MapView {
 public:
  /// The copy must be valid.
  explicit MapView(MapCopy copy);

  [[nodiscard]] const MapCopy& copy() const noexcept { return copy_; }
  [[nodiscard]] std::int64_t version() const noexcept { return copy_.version; }
  [[nodiscard]] MapPhase phase() const noexcept { return phase_of(version()); }
  [[nodiscard]] std::int64_t generation() const noexcept { return generation_of(version()); }
  [[nodiscard]] std::int64_t last_generation() const noexcept {
    return last_generation_of(version());
  }

  /// The home of a path in a generation. The copy must have that generation.
  [[nodiscard]] const std::string& home_of(std::string_view path, std::int64_t generation) const;
  /// The homes that an acquire of the path takes, in this order: the old one, then the new one.
  /// Only one if nothing moves, or this path does not.
  [[nodiscard]] std::vector<std::string> homes_of(std::string_view path) const;
  /// The generation in which the path came to its home of `generation`: the first one of an
  /// unbroken row of generations with that home.
  [[nodiscard]] std::int64_t epoch_of(std::string_view path, std::int64_t generation) const;

 private:
  MapCopy copy_;
  std::vector<HomeChoice> choices_;
};

using MapViewPtr = std::shared_ptr<const MapView>;

/// The token of a path's holder: the token of its lease, with the path's epoch in the upper half of
/// `epoch`.
[[nodiscard]] constexpr FencingToken moved_token(FencingToken of_lease,
                                                 std::int64_t epoch) noexcept {
  of_lease.epoch += epoch << 32U;
  return of_lease;
}

}  // namespace custodian::recipes_detail
