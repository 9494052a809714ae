#pragma once

/// \file
/// A semaphore of three permits, as the scripted tests play with it.

#include <string>
#include <vector>

#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "custodian/shared/shared_count.hpp"
#include "scripted/world.hpp"

namespace custodian::tests::permits {

inline constexpr auto path = "/permits";
inline constexpr int maximum = 3;

[[nodiscard]] inline std::vector<std::string> leases(World& world) {
  return world.ensemble.children(std::string{path} + "/leases");
}

/// What brings the missing permit.
enum class Relief { given_back, maximum_raised };

/// Three permits, for ever or as a counter says.
[[nodiscard]] inline InterProcessSemaphore semaphore(Client& client, Relief relief) {
  if (relief == Relief::given_back) return {client, path, maximum};
  return {client, path, SharedCount{client, "/maximum", maximum}};
}

}  // namespace custodian::tests::permits
