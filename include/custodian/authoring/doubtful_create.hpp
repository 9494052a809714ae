#pragma once

/// \file
/// For authors of recipes that create nodes with unique names in transactions. The client cannot
/// settle a lost reply to such a transaction by itself, as it does for `Client::create()`
/// (`Protection::by_unique_name`).

#include <chrono>
#include <cstdint>
#include <string_view>

#include "custodian/export.hpp"

namespace custodian::detail {

class ClientCore;

/// The owner of the node that a create has made, if it has made one.
enum class NodeOf : std::uint8_t { caller, nobody };

/// On the strand: call it when the reply to a create of this path (`.../_c_<uuid>-...`) was lost,
/// and its outcome is known now. `began` is the time at which the create was begun. If the servers
/// apply the create later, its node is deleted. A node that the caller owns stays until its
/// OwnedNode is destroyed.
CUSTODIAN_EXPORT void remember_doubtful(ClientCore& core, std::string_view path, NodeOf owner,
                                        std::chrono::steady_clock::time_point began);

}  // namespace custodian::detail
