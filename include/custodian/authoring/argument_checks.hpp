#pragma once

/// \file
/// What is refused before anything is sent: for authors of recipes, whose callers learn of a bad
/// argument in their own thread. Each function throws Error (invalid_argument), which names the
/// argument and the rule.

#include <string_view>

#include "custodian/authoring/bridge.hpp"
#include "custodian/export.hpp"
#include "custodian/operation_options.hpp"
#include "custodian/transaction.hpp"

namespace custodian {

CUSTODIAN_EXPORT void check_path(const CorePtr& core, std::string_view operation,
                                 std::string_view path);
/// Also whether what a contender with this name and identity needs to say about itself would be
/// accepted by the servers.
CUSTODIAN_EXPORT void check_contender(const CorePtr& core, std::string_view operation,
                                      std::string_view path, std::string_view name,
                                      std::string_view identity);
CUSTODIAN_EXPORT void check_create(const CorePtr& core, std::string_view path,
                                   std::string_view data, const CreateOptions& options);
CUSTODIAN_EXPORT void check_set(const CorePtr& core, std::string_view path, std::string_view data);
CUSTODIAN_EXPORT void check_remove(const CorePtr& core, std::string_view path,
                                   const RemoveOptions& options);
CUSTODIAN_EXPORT void check_commit(const CorePtr& core, const Transaction& transaction);

}  // namespace custodian
