// This file replaces acl_digest.cpp in a build without OpenSSL.
#include "custodian/acl.hpp"
#include "custodian/error.hpp"

namespace custodian {

std::string digest_id(std::string_view, std::string_view) {
  throw Error{Errc::invalid_argument, "digest_id", "",
              "this build of Custodian has no hash for it; it needs OpenSSL's headers (libssl-dev) "
              "and -DCUSTODIAN_TLS=ON"};
}

}  // namespace custodian
