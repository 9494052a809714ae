/// \file
/// The text form of a moving map's copy, which other programs and people may have written.

#include "ensembles/map_copy.hpp"

#include <variant>

#include "ensembles/map_view.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {

void map_copy(std::string_view input) {
  using namespace recipes_detail;
  const auto read = decode_copy(input);
  if (const auto* const fault = std::get_if<LayoutFault>(&read)) {
    return require(is_one_line(fault->text), "a fault has a reason, in one line");
  }
  const auto& copy = std::get<MapCopy>(read);
  require(!copy_fault(copy), "what is read is valid");
  const std::string text = encode(copy);
  const auto again = decode_copy(text);
  const auto* const same = std::get_if<MapCopy>(&again);
  require(same != nullptr && *same == copy, "what is written is read as the same");
  require(encode(*same) == text, "and is written as the same");
  require(continues(copy, copy), "a copy is one of its own map");
  const MapView view{copy};
  for (const char* path : {"/", "/a", "/orders/4711/lines/2"}) {
    const auto homes = view.homes_of(path);
    require(!homes.empty() && homes.size() <= 2, "a path has its home, or two while it moves");
    require(homes.back() == view.home_of(path, view.last_generation()), "the last is the new one");
    const std::int64_t epoch = view.epoch_of(path, view.generation());
    require(epoch >= 1 && epoch <= view.generation(), "an epoch is a generation");
    require(view.home_of(path, epoch) == homes.front(), "in which the path had its home");
  }
}

}  // namespace custodian::fuzz
