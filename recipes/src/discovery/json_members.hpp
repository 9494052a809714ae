#pragma once

/// \file
/// json_members() takes a JSON object apart without parsing the values: so a payload stays as it
/// was written, whatever it contains, and however deeply nested it is. Pure.

#include <string_view>
#include <utility>
#include <vector>

namespace custodian::discovery_detail {

/// The name of a member as it is written, with its quotes, and the text of its value.
using JsonMember = std::pair<std::string_view, std::string_view>;

/// The members of a JSON object, in their order. `json` must be valid JSON (UTF-8, perhaps with a
/// byte order mark), and an object. The result has views into `json`.
[[nodiscard]] std::vector<JsonMember> json_members(std::string_view json);

/// Whether a text is an object. The text must be valid JSON.
[[nodiscard]] bool is_json_object(std::string_view json);

/// The text without a byte order mark, and without white space around it.
[[nodiscard]] std::string_view trimmed_json(std::string_view json);

}  // namespace custodian::discovery_detail
