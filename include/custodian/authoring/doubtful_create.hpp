#pragma once

/// \file
/// For authors of recipes that create nodes of unique names in transactions, which the client
/// cannot recover by itself, as it does for `Client::create()` (`Protection::by_unique_name`).

#include <chrono>
#include <cstdint>
#include <string_view>

#include "custodian/export.hpp"

namespace custodian::detail {

class ClientCore;

/// The owner of the node that a create has made, if it has made one.
enum class NodeOf : std::uint8_t { caller, nobody };

/// On the strand: the reply to a create of this path (`.../_c_<uuid>-...`), begun then, was lost,
/// and its outcome is known now. Should the servers apply the create later, the node is deleted;
/// one that is the caller's stays, until the OwnedNode that has it is destroyed.
CUSTODIAN_EXPORT void remember_doubtful(ClientCore& core, std::string_view path, NodeOf owner,
                                        std::chrono::steady_clock::time_point began);

}  // namespace custodian::detail
