#pragma once

/// \file
/// NodeAcl chooses the ACL of the nodes that a command creates.

#include <CLI/CLI.hpp>
#include <cstdint>

#include "custodian/client_options.hpp"

namespace custodian::cli {

enum class NodeAcl : std::uint8_t {
  by_credentials,        ///< creator_all if there are credentials, otherwise open
  open,                  ///< every client may do everything
  creator_all,           ///< only clients with the same credentials
  creator_all_read_all,  ///< like creator_all, and every client may read
};

/// Adds the option --acl.
void add_acl_option(CLI::App& subcommand, NodeAcl& acl);

/// Throws UsageError if the ACL needs credentials and there are none.
[[nodiscard]] AclProvider acl_provider(NodeAcl acl, bool has_credentials);

}  // namespace custodian::cli
