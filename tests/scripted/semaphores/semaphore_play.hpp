#pragma once

/// \file
/// The semaphore of three permits that the scripted tests use.

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

/// How the missing permit becomes free.
enum class Relief { given_back, maximum_raised };

/// A semaphore of three permits: a fixed number, or a shared count's.
[[nodiscard]] inline InterProcessSemaphore semaphore(Client& client, Relief relief) {
  if (relief == Relief::given_back) return {client, path, maximum};
  return {client, path, SharedCount{client, "/maximum", maximum}};
}

}  // namespace custodian::tests::permits
