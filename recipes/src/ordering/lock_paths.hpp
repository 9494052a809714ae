#pragma once

/// \file
/// Checks the path of a lock: a lock's node has the contenders as its children, and must have no
/// other use.

#include <memory>
#include <string>
#include <string_view>

#include "custodian/client.hpp"

namespace custodian::recipes_detail {

/// Why no lock may be at this path; empty if one may. Pure.
[[nodiscard]] std::string_view objection_to_path(std::string_view path) noexcept;

/// The registration of one client's lock at a path, until the object is destroyed. Threads: any.
class LockPlace;
using LockPlacePtr = std::shared_ptr<const LockPlace>;

/// Registers a lock's path. `lock` is the name of the lock's class, for errors. Any number of locks
/// may be at one path. Throws Error (invalid_argument) if no lock may be there, or if this client
/// has a lock at a node above it.
[[nodiscard]] LockPlacePtr take_place(const Client& client, std::string_view lock,
                                      const std::string& path);

}  // namespace custodian::recipes_detail
