#pragma once

/// \file
/// The address list is made here as the C client needs it. Pure.

#include <cstddef>
#include <string>
#include <string_view>

namespace custodian::detail {

/// The C client steps twice through its list for each address that fails, so that of an even number
/// of addresses it tries every second one only (ZOOKEEPER-2466). An odd number of steps visits all:
/// a list of even length gets the address at `repeated` (modulo the length) a second time. Chosen
/// at random by each client, that address differs, and no server gets more clients than another.
[[nodiscard]] std::string with_odd_length(std::string_view addresses, std::size_t repeated);

}  // namespace custodian::detail
