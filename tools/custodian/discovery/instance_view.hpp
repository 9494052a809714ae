#pragma once

/// \file
/// These functions show an instance of a service to people and programs. Pure.

#include <string>

#include "custodian/discovery/instance_json.hpp"
#include "custodian/node.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {

/// A node of a service, and its decoded data.
struct SeenInstance {
  std::string node{};
  Stat stat{};
  DecodedInstance decoded{};
};

/// One line: "first  http://10.0.0.7:631  dynamic, since 2026-11-26 19:00:00Z, disabled".
[[nodiscard]] std::string line_of(const SeenInstance& seen);

/// The fields of an instance; a node that cannot be decoded has `node` and `fault`. The payload is
/// a string: that of another program may be any JSON, of any depth.
[[nodiscard]] Json json_of(const SeenInstance& seen);

}  // namespace custodian::cli
