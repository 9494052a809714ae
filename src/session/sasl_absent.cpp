// This file replaces sasl.cpp and its mechanisms in a build without Kerberos.
#include "custodian/error.hpp"
#include "session/sasl.hpp"

namespace custodian::detail {

std::shared_ptr<const Sasl> make_sasl(const SaslOptions&) {
  throw Error{
      Errc::invalid_argument, "connect", "",
      "sasl: this build of Custodian has none; it needs the headers of Kerberos and OpenSSL "
      "(libkrb5-dev, libssl-dev) and -DCUSTODIAN_SASL=ON"};
}

}  // namespace custodian::detail
