// This file replaces tls.cpp and the other files of TLS in a build without OpenSSL.
#include "custodian/error.hpp"
#include "session/tls.hpp"

namespace custodian::detail {

std::shared_ptr<Tls> make_tls(const TlsOptions&) {
  throw Error{Errc::invalid_argument, "connect", "",
              "tls: this build of Custodian has none; it needs OpenSSL's headers (libssl-dev) and "
              "-DCUSTODIAN_TLS=ON"};
}

}  // namespace custodian::detail
