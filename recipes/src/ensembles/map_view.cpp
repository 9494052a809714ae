#include "ensembles/map_view.hpp"

#include <utility>

namespace custodian::recipes_detail {

MapView::MapView(MapCopy copy)
    : copy_{std::move(copy)}, choices_{copy_.generations.begin(), copy_.generations.end()} {}

const std::string& MapView::home_of(std::string_view path, std::int64_t generation) const {
  return choices_[static_cast<std::size_t>(generation - 1)].home_of(path);
}

std::vector<std::string> MapView::homes_of(std::string_view path) const {
  std::vector<std::string> homes{home_of(path, generation())};
  const std::string& last = home_of(path, last_generation());
  if (last != homes.front()) homes.push_back(last);
  return homes;
}

std::int64_t MapView::epoch_of(std::string_view path, std::int64_t generation) const {
  const std::string& home = home_of(path, generation);
  while (generation > 1 && home_of(path, generation - 1) == home) --generation;
  return generation;
}

}  // namespace custodian::recipes_detail
