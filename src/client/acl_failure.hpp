#pragma once

/// \file
/// log_acl_failure() logs an exception of an ACL provider. The provider is user code, and may throw
/// an object of any type; this fails the operation that asked for the ACL, and nothing else.

#include <string_view>

namespace custodian::detail {

class ClientCore;

/// Logs the exception that is being handled: call it within a `catch`. `what` names the object,
/// such as a path, that the provider was asked about.
void log_acl_failure(ClientCore& core, std::string_view what);

}  // namespace custodian::detail
