#pragma once

/// \file
/// The address list is made here as the C client needs it. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace custodian::detail {

/// The C client takes two steps through its list for each address that fails, so with an even
/// number of addresses it tries only every second one (ZOOKEEPER-2466). With an odd number it
/// visits all: a list of even length gets the address at `repeated` (modulo the length) a second
/// time. Each client chooses that address at random, so that no server gets more clients than
/// another.
[[nodiscard]] std::string with_odd_length(std::string_view addresses, std::size_t repeated);

}  // namespace custodian::detail
