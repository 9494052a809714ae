#include "doctor/path_diagnosis.hpp"

#include <algorithm>

#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

/// Returns whether every client may change anything at the path: its data, its children, or its
/// ACL.
bool is_open(const PathFacts& facts) {
  if (!facts.acl) return false;
  const auto may = [](const AclEntry& entry, Permissions power) {
    return entry.scheme == "world" && (entry.permissions & power) != Permissions::none;
  };
  return std::ranges::any_of(*facts.acl, [&](const AclEntry& entry) {
    return may(entry, Permissions::write) || may(entry, Permissions::create) ||
           may(entry, Permissions::remove) || may(entry, Permissions::admin);
  });
}

}  // namespace

bool is_gone(const PathFacts& facts) {
  return facts.list_error == ServerErrc::no_node || facts.create_error == ServerErrc::no_node;
}

std::vector<Finding> diagnose_path(const PathFacts& facts) {
  std::vector<Finding> findings;
  const std::string path = printable(facts.path);
  if (facts.existing.empty()) {
    return {{Verdict::fail, "path", path, "the chroot behind the servers does not exist",
             "create it, or leave it out of the list of servers"}};
  }
  if (is_gone(facts)) {
    return {{Verdict::warn, "path", path,
             "comes and goes, and could not be tried while it was there", "try its parent"}};
  }
  const bool is_there = facts.existing == facts.path;
  const std::string at = is_there ? "there" : "at " + printable(facts.existing);
  bool is_usable = true;
  const auto judge = [&](const error_code& error, const std::string& deed,
                         const std::string& advice) {
    if (!error) return;
    is_usable = false;
    findings.push_back(
        {Verdict::fail, "path", path,
         "with these credentials nobody may " + deed + " " + at + ": " + error.message(), advice});
  };
  const std::string who = "give --auth, or have setAcl done by who may";
  judge(facts.list_error, "list", who);
  judge(facts.create_error, "create", who);
  judge(facts.remove_error, "delete",
        who + "; a lock that is taken here is freed only when its session ends");
  if (is_usable) {
    findings.push_back(
        {Verdict::ok,
         "path",
         path,
         is_there ? "may be listed, and nodes created and deleted there"
                  : "does not exist yet, and may be created at " + printable(facts.existing),
         {}});
  }
  if (is_open(facts)) {
    findings.push_back(
        {Verdict::warn, "acl", printable(facts.existing),
         "is open to world:anyone: whoever reaches the servers can take and break locks here",
         "fine in a closed network; otherwise set an ACL (ClientOptions::acl_provider, setAcl)"});
  }
  return findings;
}

}  // namespace custodian::cli
