#pragma once

/// \file
/// These functions format JSON as the command prints it.

#include <nlohmann/json.hpp>
#include <string>

#include "custodian/locks/acquire.hpp"

namespace custodian::cli {

/// JSON whose fields keep the order of their insertion.
using Json = nlohmann::ordered_json;

/// Formats JSON as one line of ASCII, so that no text can control a terminal. Bytes that are not
/// UTF-8 become U+FFFD.
[[nodiscard]] std::string to_line(const Json& json);

/// A session's id, as "0x10000abcd".
[[nodiscard]] std::string session_text(std::int64_t session);

/// Adds a node's data as the field `identity`. If the data is not UTF-8, `identity` is null, and
/// the field `identity_hex` has the bytes.
void put_identity(Json& into, const std::string& identity);

/// Adds the fields identity, session, since, token and node.
void put_participant(Json& into, const Participant& participant);

}  // namespace custodian::cli
