#pragma once

/// \file
/// What an ACL provider throws, who may throw anything: it fails what asked, and nothing else.

#include <string_view>

namespace custodian::detail {

class ClientCore;

/// Within a handler of the exception: says in the log what the provider has thrown for `what`.
void log_acl_failure(ClientCore& core, std::string_view what);

}  // namespace custodian::detail
