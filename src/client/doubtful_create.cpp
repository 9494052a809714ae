#include "custodian/authoring/doubtful_create.hpp"

#include "client/client_core.hpp"
#include "client/late_creates.hpp"

namespace custodian::detail {

void remember_doubtful(ClientCore& core, std::string_view path, NodeOf owner,
                       std::chrono::steady_clock::time_point began) {
  const std::string full = core.prefix().add(path);
  const std::string name{name_of(full)};
  const auto protection = protection_of(name);
  if (!protection) return;
  core.late_creates().remember(std::string{parent_of(full)}, std::string{*protection},
                               owner == NodeOf::caller ? std::optional{name} : std::nullopt, began);
}

}  // namespace custodian::detail
