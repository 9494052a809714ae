/// \file
/// The JSON of an instance of a service, as anybody may have written it into a node; and the same
/// text as a payload, and as a pattern.

#include "custodian/discovery/instance_json.hpp"
#include "custodian/error.hpp"
#include "fuzz.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

void reads_what_it_writes(const ServiceInstance& instance) {
  for (const EnabledMember how : {EnabledMember::if_disabled, EnabledMember::always}) {
    const DecodedInstance again = decode_instance(encode_instance(instance, how));
    require(again.instance.has_value(), "what is written can be read");
    require(*again.instance == instance, "what is written is read as the same");
  }
}

void passes_payload_on(const std::string& text) {
  const ServiceInstance instance{.payload = text, .registered = ServiceInstance::Time{}};
  std::string written;
  try {
    written = encode_instance(instance);
  } catch (const Error& error) {
    require(error.code() == Errc::invalid_argument, "a refusal is the caller's mistake");
    require(!decode_instance(text).instance, "what is an instance is JSON");
    return;
  }
  const DecodedInstance again = decode_instance(written);
  require(again.instance.has_value(), "what is written can be read");
  // White space around a payload, and a byte order mark, are no part of it; null is no payload.
  const std::string read = again.instance->payload.value_or("null");
  require(text.find(read) != std::string::npos, "a payload is passed on as it is");
}

void takes_pattern_apart(const std::string& text) {
  try {
    const UriSpec spec{text};
    require(UriSpec{spec.parts()} == spec, "a pattern is its parts");
    static_cast<void>(spec.build(ServiceInstance{}));
  } catch (const Error& error) {
    require(error.code() == Errc::invalid_argument, "a refusal is the caller's mistake");
  }
}

}  // namespace

void service_instance(std::string_view input) {
  const DecodedInstance decoded = decode_instance(input);
  require(decoded.instance.has_value() == decoded.fault.empty(), "a fault has a reason");
  if (decoded.instance) {
    reads_what_it_writes(*decoded.instance);
    static_cast<void>(decoded.instance->uri());
  } else {
    require(is_one_line(decoded.fault), "a reason is one line");
  }
  const std::string text{input};
  passes_payload_on(text);
  takes_pattern_apart(text);
}

}  // namespace custodian::fuzz
