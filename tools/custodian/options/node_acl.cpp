#include "options/node_acl.hpp"

#include "options/choice_option.hpp"
#include "options/usage_error.hpp"

namespace custodian::cli {

void add_acl_option(CLI::App& subcommand, NodeAcl& acl) {
  add_choice(subcommand, "--acl", acl,
             {{"open", NodeAcl::open},
              {"creator-all", NodeAcl::creator_all},
              {"creator-all-read-all", NodeAcl::creator_all_read_all}},
             "who may touch the nodes that it creates: open (everybody), creator-all (who has the "
             "same credentials), creator-all-read-all (the same; everybody may look) (default: "
             "creator-all if credentials are given, open otherwise)");
}

AclProvider acl_provider(NodeAcl acl, bool has_credentials) {
  if (acl == NodeAcl::by_credentials) acl = has_credentials ? NodeAcl::creator_all : NodeAcl::open;
  if (acl == NodeAcl::open) return {};
  if (!has_credentials) {
    throw UsageError{
        "whose shall the nodes be? --acl creator-all needs credentials: CUSTODIAN_AUTH, or --auth"};
  }
  Acl entries = creator_all_acl();
  if (acl == NodeAcl::creator_all_read_all) {
    const Acl readers = read_acl();
    entries.insert(entries.end(), readers.begin(), readers.end());
  }
  return [entries](std::string_view /*path*/) { return entries; };
}

}  // namespace custodian::cli
