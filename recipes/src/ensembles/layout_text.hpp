#pragma once

/// \file
/// The text form of a layout of ensembles, one line for each thing that it says. Pure.

#include <string>
#include <string_view>
#include <variant>

#include "custodian/ensembles/ensemble_layout.hpp"

namespace custodian::recipes_detail {

/// The first line: what the text is, and the version of its format.
inline constexpr std::string_view layout_title = "custodian ensembles, layout 1";

/// Why a text is no layout: a text that names the line.
struct LayoutFault {
  std::string text;
};

/// The layout must be valid.
[[nodiscard]] std::string encode(const EnsembleLayout& layout);
/// A layout that is returned is valid.
[[nodiscard]] std::variant<EnsembleLayout, LayoutFault> decode_layout(std::string_view text);

/// The fingerprint of a layout with this text.
[[nodiscard]] std::string fingerprint_of(std::string_view text);

}  // namespace custodian::recipes_detail
