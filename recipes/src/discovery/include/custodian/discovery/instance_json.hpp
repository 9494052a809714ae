#pragma once

/// \file
/// These functions turn a ServiceInstance into the JSON that Apache Curator's
/// `JsonInstanceSerializer` writes into a node, and back. Pure; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "custodian/discovery/service_instance.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// Whether JSON says that an instance is enabled. To a reader, an instance without this member is
/// enabled. Curator before 2.12 cannot read an instance that has it.
enum class EnabledMember : std::uint8_t {
  if_disabled,  ///< only `"enabled":false` is written: readers leave such an instance alone
  always,       ///< as Curator writes it with `compatibleSerializationMode` off
  never,        ///< as Curator writes it by default: a disabled instance is enabled for all readers
};

/// The JSON text of an instance: members in Curator's order, `null` for empty ones, and no white
/// space between them. An instance without a time gets the time 0. Throws Error (invalid_argument)
/// if the payload is not JSON, or if a text is not UTF-8.
[[nodiscard]] CUSTODIAN_EXPORT std::string encode_instance(
    const ServiceInstance& instance, EnabledMember enabled = EnabledMember::if_disabled);

/// What decode_instance() makes of a text: an instance, or a reason why there is none.
struct DecodedInstance {
  std::optional<ServiceInstance> instance{};  ///< empty if the text cannot be decoded
  std::string fault{};                        ///< why there is no instance: one line
};

/// Reads the JSON text of an instance. Members may have any order. Unknown members are ignored, and
/// missing or `null` ones count as empty, as in Curator: `{}` is an instance. The text of the
/// payload is kept as it is written. Never throws because of the text.
[[nodiscard]] CUSTODIAN_EXPORT DecodedInstance decode_instance(std::string_view json);

/// The payload of a plain text: a JSON string. Throws Error (invalid_argument) if it is not UTF-8.
[[nodiscard]] CUSTODIAN_EXPORT std::string text_payload(std::string_view text);

/// The payload of an object for readers in Java: the JSON object `json` with a first member
/// `"@class"`, the name of the class that readers make of it. If `java_class` is empty, readers get
/// a map. Throws Error (invalid_argument) if `json` is not the text of an object, or if a text is
/// not UTF-8.
[[nodiscard]] CUSTODIAN_EXPORT std::string object_payload(std::string_view java_class,
                                                          std::string_view json);

}  // namespace custodian
