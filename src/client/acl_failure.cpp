#include "client/acl_failure.hpp"

#include <exception>
#include <string>

#include "base/printable.hpp"
#include "client/client_core.hpp"

namespace custodian::detail {

void log_acl_failure(ClientCore& core, std::string_view what) {
  std::string reason;
  try {
    throw;  // the caller's exception once more: only a `catch` knows its type
  } catch (const std::exception& exception) {
    reason = exception.what();
  } catch (...) {
    reason = "what it threw is no std::exception";
  }
  core.log(LogLevel::error, "the ACL provider failed for " + shortened(what) + ": " + reason);
}

}  // namespace custodian::detail
