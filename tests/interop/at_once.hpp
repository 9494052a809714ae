#pragma once

/// \file
/// How many permits were held at once, by their holders' records. Pure.
///
/// A hold counts from after its acquire to before its release, so it lasted longer than it counts:
/// more recorded at once than there are permits is an error, however slow the machine was. A hold
/// that begins when another ends does not overlap it.

#include <cstddef>
#include <vector>

#include "history.hpp"

namespace custodian::tests {

/// One that begins when another ends is not held at once with it.
[[nodiscard]] std::size_t most_at_once(const std::vector<demo::Hold>& holds);

}  // namespace custodian::tests
