#include "custodian/acl.hpp"

namespace custodian {

Acl open_acl() { return {AclEntry{}}; }
Acl read_acl() { return {AclEntry{Permissions::read, "world", "anyone"}}; }
Acl creator_all_acl() { return {AclEntry{Permissions::all, "auth", ""}}; }

}  // namespace custodian
