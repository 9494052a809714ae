#pragma once

/// \file
/// These functions refuse bad arguments before anything is sent, for authors of recipes: callers
/// get the error in their own thread. Each function throws Error (invalid_argument), which names
/// the argument and the rule.

#include <string_view>

#include "custodian/authoring/bridge.hpp"
#include "custodian/export.hpp"
#include "custodian/operation_options.hpp"
#include "custodian/transaction.hpp"

namespace custodian {

/// Refuses a path that ZooKeeper's rules or the size of a request forbid. Accepts the root.
CUSTODIAN_EXPORT void check_path(const CorePtr& core, std::string_view operation,
                                 std::string_view path);
/// Refuses what check_path() refuses, and a contender whose name and identity make a request larger
/// than the servers accept, or whose identity is `revoke_message`.
CUSTODIAN_EXPORT void check_contender(const CorePtr& core, std::string_view operation,
                                      std::string_view path, std::string_view name,
                                      std::string_view identity);
/// Refuses the arguments of a create that the servers would refuse: a bad path, the root, data that
/// are too large, an empty ACL, a TTL that does not fit the mode.
CUSTODIAN_EXPORT void check_create(const CorePtr& core, std::string_view path,
                                   std::string_view data, const CreateOptions& options);
/// Refuses a set with a bad path, or with data that are too large.
CUSTODIAN_EXPORT void check_set(const CorePtr& core, std::string_view path, std::string_view data);
/// Refuses what check_create() refuses, and a mode that is ephemeral or numbered.
CUSTODIAN_EXPORT void check_upsert(const CorePtr& core, std::string_view path,
                                   std::string_view data, const UpsertOptions& options);
/// Refuses a remove with a bad path, a remove of the root, and a remove of a whole tree with a
/// version.
CUSTODIAN_EXPORT void check_remove(const CorePtr& core, std::string_view path,
                                   const RemoveOptions& options);
/// Refuses a transaction that is empty or too large, and one with a bad path or with a mode that a
/// transaction cannot create.
CUSTODIAN_EXPORT void check_commit(const CorePtr& core, const Transaction& transaction);

}  // namespace custodian
