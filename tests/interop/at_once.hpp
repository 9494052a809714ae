#pragma once

/// \file
/// How many permits were held at once, by what their holders wrote down. Pure.
///
/// A hold counts from after its acquire to before its release, so that it was held longer than it
/// counts: more at once than there are permits are too many, whatever the machine did meanwhile.

#include <cstddef>
#include <vector>

#include "history.hpp"

namespace custodian::tests {

/// One that begins when another ends is not held at once with it.
[[nodiscard]] std::size_t most_at_once(const std::vector<demo::Hold>& holds);

}  // namespace custodian::tests
