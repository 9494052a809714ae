#pragma once

/// \file
/// HomeChoice finds the ensemble that is the home of a path: by the pins of a layout, or by
/// rendezvous hashing. Pure.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/ensembles/ensemble_layout.hpp"

namespace custodian::recipes_detail {

/// The first `depth` components of a path; the whole path if it has no more than that.
[[nodiscard]] std::string_view key_of_path(std::string_view path, int depth) noexcept;

/// The hash of a ticket's name, before the key. Tickets are numbered from 1.
[[nodiscard]] std::uint64_t ticket_hash(std::string_view ensemble, int ticket);
/// The score of a ticket for a key.
[[nodiscard]] std::uint64_t ticket_score(std::uint64_t ticket_hash, std::string_view key) noexcept;

/// Threads: any. Immutable.
class HomeChoice {
 public:
  /// The layout must be valid.
  explicit HomeChoice(const EnsembleLayout& layout);

  /// The name of the path's home. The path must be valid.
  [[nodiscard]] const std::string& home_of(std::string_view path) const;

 private:
  struct Ticket {
    std::uint64_t hash;
    std::size_t name;
  };

  [[nodiscard]] const std::string* pinned_home_of(std::string_view path) const;

  int depth_;
  std::vector<std::string> names_;
  std::vector<Ticket> tickets_;
  std::map<std::string, std::string, std::less<>> pins_;
};

}  // namespace custodian::recipes_detail
