#pragma once

/// \file
/// The scale report formats a series for people. Pure.

#include <string>

#include "scale.hpp"

namespace custodian::bench {

/// A line for each size and contestant, and one for each ratio of ours to a peer by the workloads'
/// figure.
[[nodiscard]] std::string to_text(const Growth& growth);
/// The same as a section of a page.
[[nodiscard]] std::string to_markdown(const Growth& growth);

}  // namespace custodian::bench
