#pragma once

/// \file
/// Finds the number of permits that were held at once, from the records of their holders. Pure.
///
/// A record counts from after the acquire to before the release, so the hold lasted longer than its
/// record: more permits recorded at once than there are is an error, however slow the machine was.

#include <cstddef>
#include <vector>

#include "history.hpp"

namespace custodian::tests {

/// Returns the largest number of holds at once. A hold that begins when another ends does not
/// overlap it.
[[nodiscard]] std::size_t most_at_once(const std::vector<demo::Hold>& holds);

}  // namespace custodian::tests
