#include "custodian/ensembles/ensemble_layout.hpp"

#include <utility>

#include "custodian/error.hpp"
#include "ensembles/home_choice.hpp"
#include "ensembles/layout_rules.hpp"
#include "ensembles/layout_text.hpp"

namespace custodian {

EnsembleLayout EnsembleLayout::parse(std::string_view text) {
  auto read = recipes_detail::decode_layout(text);
  if (const auto* const fault = std::get_if<recipes_detail::LayoutFault>(&read)) {
    throw Error{Errc::malformed_data, "EnsembleLayout::parse", {}, fault->text};
  }
  return std::get<EnsembleLayout>(std::move(read));
}

std::string EnsembleLayout::text() const { return recipes_detail::encode(*this); }

std::string EnsembleLayout::fingerprint() const { return recipes_detail::fingerprint_of(text()); }

void EnsembleLayout::check() const {
  if (const auto fault = recipes_detail::layout_fault(*this)) {
    throw Error{Errc::invalid_argument, "EnsembleLayout", {}, *fault};
  }
}

std::string EnsembleLayout::home_of(std::string_view path) const {
  check();
  if (!recipes_detail::is_mapped_path(path)) {
    throw Error{
        Errc::invalid_argument, "home_of", path,
        "path: it begins with a slash, and has no empty component and no control character"};
  }
  return recipes_detail::HomeChoice{*this}.home_of(path);
}

}  // namespace custodian
