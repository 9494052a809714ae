#pragma once

/// \file
/// Who may touch the nodes of what a command runs under.

#include <CLI/CLI.hpp>
#include <cstdint>

#include "custodian/client_options.hpp"

namespace custodian::cli {

enum class NodeAcl : std::uint8_t {
  by_credentials,        ///< creator_all with credentials, and open without
  open,                  ///< everybody may do everything
  creator_all,           ///< who has the same credentials, and nobody else
  creator_all_read_all,  ///< the same; everybody may look
};

/// --acl.
void add_acl_option(CLI::App& subcommand, NodeAcl& acl);

/// Throws UsageError if nodes are to belong to credentials and there are none.
[[nodiscard]] AclProvider acl_provider(NodeAcl acl, bool has_credentials);

}  // namespace custodian::cli
