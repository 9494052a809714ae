#pragma once

/// \file
/// The rules that a layout of ensembles must keep. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "custodian/ensembles/ensemble_layout.hpp"

namespace custodian::recipes_detail {

/// Whether a text can be the name of an ensemble.
[[nodiscard]] bool is_ensemble_name(std::string_view text) noexcept;
/// Whether a text can be a path that has a home: it begins with a slash, no component is empty, and
/// no character is a control character.
[[nodiscard]] bool is_mapped_path(std::string_view text) noexcept;

/// The first rule that a layout breaks, as a text that names the layout's member; nothing if it
/// breaks none.
[[nodiscard]] std::optional<std::string> layout_fault(const EnsembleLayout& layout);

}  // namespace custodian::recipes_detail
