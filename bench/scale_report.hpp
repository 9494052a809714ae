#pragma once

/// \file
/// The scale report formats a series for people. Pure.

#include <string>

#include "scale.hpp"

namespace custodian::bench {

/// A line for each size and contestant, and a line for the ratio of ours to each peer, by the
/// workload's figure.
[[nodiscard]] std::string to_text(const Growth& growth);
/// The same content, as a section of a Markdown page.
[[nodiscard]] std::string to_markdown(const Growth& growth);

}  // namespace custodian::bench
