#include "client/beat_part.hpp"

#include "base/encoded_size.hpp"

namespace custodian::detail {

bool BeatPart::add(std::size_t path_size) {
  // A check is its header, of 9 bytes, its path with the length of that, and a version. The request
  // around them is the multi of a single check without that check.
  constexpr std::size_t of_check = 9 + 4 + 4;
  const std::size_t size = checks_ == 0 ? encoded_size_of_check(path_size) : of_check + path_size;
  const bool full = checks_ == most_checks || size > room_;
  if (full && checks_ > 0) return false;
  room_ -= size > room_ ? room_ : size;
  ++checks_;
  return true;
}

}  // namespace custodian::detail
