#pragma once

/// \file
/// remember_doubtful() is for authors of recipes that create nodes with unique names in
/// transactions. When the reply to such a transaction is lost, the client cannot find out the
/// outcome by itself, as it does for `Client::create()` (`Protection::by_unique_name`).

#include <chrono>
#include <cstdint>
#include <string_view>

#include "custodian/export.hpp"

namespace custodian::detail {

class ClientCore;

/// The owner of the node that a create has made, or may still make.
enum class NodeOf : std::uint8_t { caller, nobody };

/// Remembers a create of this path (`.../_c_<uuid>-...`) whose reply was lost: if the servers apply
/// the create later, the client deletes its node. Call it when the caller has found out the
/// outcome, or has given up. With NodeOf::caller, the node stays until its OwnedNode is destroyed.
/// `began` is the time at which the create was begun. Called on the strand.
CUSTODIAN_EXPORT void remember_doubtful(ClientCore& core, std::string_view path, NodeOf owner,
                                        std::chrono::steady_clock::time_point began);

}  // namespace custodian::detail
