#pragma once

/// \file
/// JSON is formatted here as the command prints it.

#include <nlohmann/json.hpp>
#include <string>

#include "custodian/locks/acquire.hpp"

namespace custodian::cli {

/// Keeps the order in which its fields were put in.
using Json = nlohmann::ordered_json;

/// One line, in ASCII, so that it cannot command a terminal. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string to_line(const Json& json);

/// "0x10000abcd".
[[nodiscard]] std::string session_text(std::int64_t session);

/// Puts in a node's data as the field `identity`, null if it is no UTF-8; its bytes then are in
/// `identity_hex`.
void put_identity(Json& into, const std::string& identity);

/// identity, session, since, token and node.
void put_participant(Json& into, const Participant& participant);

}  // namespace custodian::cli
