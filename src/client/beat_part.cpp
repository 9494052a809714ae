#include "client/beat_part.hpp"

#include "base/encoded_size.hpp"

namespace custodian::detail {

bool BeatPart::add(std::size_t path_size) {
  // A check has a header of 9 bytes, the length of its path (4), the path, and a version (4). The
  // size of the first check includes the multi around it.
  constexpr std::size_t of_check = 9 + 4 + 4;
  const std::size_t size = checks_ == 0 ? encoded_size_of_check(path_size) : of_check + path_size;
  const bool full = checks_ == most_checks || size > room_;
  if (full && checks_ > 0) return false;
  room_ -= size > room_ ? room_ : size;  // a first check may be larger than the room
  ++checks_;
  return true;
}

}  // namespace custodian::detail
