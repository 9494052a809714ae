#pragma once

/// \file
/// The commands of our driver for a bounded buffer; driver.hpp says what they do.

#include <istream>
#include <string>

#include "custodian/client.hpp"

namespace custodian::tests {

/// The nodes of a buffer, all below one path.
struct BufferPaths {
  std::string base;
  [[nodiscard]] std::string lock() const { return base + "/lock"; }
  [[nodiscard]] std::string has_room() const { return base + "/has-room"; }
  [[nodiscard]] std::string has_items() const { return base + "/has-items"; }
  /// The items, a line each: "<producer> <number>".
  [[nodiscard]] std::string items() const { return base + "/items"; }
  /// The number of items that a producer has put in.
  [[nodiscard]] std::string put(int producer) const {
    return base + "/put-" + std::to_string(producer);
  }
  /// The number of items of a producer that were taken out.
  [[nodiscard]] std::string taken(int producer) const {
    return base + "/taken-" + std::to_string(producer);
  }
};

/// The number of items that fit into the buffer.
inline constexpr std::size_t room_of_buffer = 4;

/// `produce <path> <producer>` or `consume <path>`: goes on until the process is killed. Throws
/// std::runtime_error if an item is lost, or is taken out twice.
[[noreturn]] void use_buffer(const Client& client, const std::string& what, std::istream& words);

}  // namespace custodian::tests
