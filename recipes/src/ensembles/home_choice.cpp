#include "ensembles/home_choice.hpp"

#include <functional>
#include <utility>

#include "custodian/authoring/path.hpp"
#include "ordering/rendezvous_hash.hpp"

namespace custodian::recipes_detail {

std::string_view key_of_path(std::string_view path, int depth) noexcept {
  std::size_t end = 0;
  for (int i = 0; i < depth; ++i) {
    end = path.find('/', end + 1);
    if (end == path.npos) return path;
  }
  return path.substr(0, end);
}

std::uint64_t ticket_hash(std::string_view ensemble, int ticket) {
  // No ensemble's name contains a number sign, so no two tickets have the same name.
  return hash_on(hash_on(hash_on(hash_of_nothing, ensemble), "#"), std::to_string(ticket));
}

std::uint64_t ticket_score(std::uint64_t ticket_hash, std::string_view key) noexcept {
  return mixed(hash_on(ticket_hash, key));
}

HomeChoice::HomeChoice(const EnsembleLayout& layout)
    : depth_{layout.depth}, pins_{layout.pins.begin(), layout.pins.end()} {
  for (const auto& [name, weight] : layout.ensembles) {
    for (int ticket = 1; ticket <= weight; ++ticket) {
      tickets_.push_back({ticket_hash(name, ticket), names_.size()});
    }
    names_.push_back(name);
  }
}

const std::string& HomeChoice::home_of(std::string_view path) const {
  if (const std::string* const pinned = pinned_home_of(path)) return *pinned;
  const std::string_view key = key_of_path(path, depth_);
  // Tickets are in the order of the ensembles' names, so of two equal scores the lesser name wins.
  std::uint64_t highest = 0;
  std::size_t home = tickets_.front().name;
  for (const Ticket& ticket : tickets_) {
    const std::uint64_t score = ticket_score(ticket.hash, key);
    if (score > highest) {
      highest = score;
      home = ticket.name;
    }
  }
  return names_[home];
}

const std::string* HomeChoice::pinned_home_of(std::string_view path) const {
  if (pins_.empty()) return nullptr;
  for (std::string_view above = path;; above = parent_of(above)) {
    if (const auto pin = pins_.find(above); pin != pins_.end()) return &pin->second;
    if (above.size() <= 1) return nullptr;
  }
}

}  // namespace custodian::recipes_detail
