#pragma once

/// \file
/// These functions format what is known about the owner of a node. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "servers/server_answers.hpp"

namespace custodian::cli {

/// The identity as printable text; "-" if it is empty.
[[nodiscard]] std::string identity_or_dash(const std::string& identity);

/// A session, as "0x10000abcd". A contender's node belongs to a session, unless somebody created it
/// by hand: "none".
[[nodiscard]] std::string session_or_none(std::int64_t session);

/// The part of a node's path that is below `path`.
[[nodiscard]] std::string_view name_below(std::string_view node, std::string_view path);

/// The address of a session's client, if it is known.
[[nodiscard]] std::optional<std::string> address_of(std::int64_t session,
                                                    const std::optional<Addresses>& addresses);

}  // namespace custodian::cli
