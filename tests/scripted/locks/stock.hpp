#pragma once

/// \file
/// The stripes that the tests of StripedMutex contend for.

#include <cstddef>
#include <string>
#include <vector>

#include "scripted/world.hpp"

namespace custodian::tests::stock {

inline constexpr auto path = "/stock";
inline constexpr std::size_t stripes = 2;

inline std::string stripe_path(std::size_t index) {
  return std::string{path} + "/" + std::to_string(index);
}

inline std::vector<std::string> nodes(World& world) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < stripes; ++i) {
    for (const std::string& name : world.ensemble.children(stripe_path(i))) {
      all.push_back(stripe_path(i) + "/" + name);
    }
  }
  return all;
}

}  // namespace custodian::tests::stock
