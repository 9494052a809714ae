#pragma once

/// \file
/// acl_failure() handles an exception of an ACL provider, which may be of any type: it fails the
/// operation that asked, and nothing else.

#include <string_view>

namespace custodian::detail {

class ClientCore;

/// Within a handler of the exception: says in the log what the provider has thrown for `what`.
void log_acl_failure(ClientCore& core, std::string_view what);

}  // namespace custodian::detail
