// Replaces line_to_server_tls.cpp if Custodian is built without OpenSSL. No client with TLS can be
// made then, so these functions are never called.
#include "custodian/error.hpp"
#include "servers/line_to_server.hpp"

namespace custodian::cli {

std::unique_ptr<LineToServer> secure_line(boost::asio::ip::tcp::socket, const TlsOptions&,
                                          const std::string&) {
  throw Error{Errc::invalid_argument, "connect", "", "tls: this build of Custodian has none"};
}

}  // namespace custodian::cli
