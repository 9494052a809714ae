// In the place of line_to_server_tls.cpp, where Custodian is built without OpenSSL. A client with
// TLS cannot be made there, so nobody comes here.
#include "custodian/error.hpp"
#include "servers/line_to_server.hpp"

namespace custodian::cli {

std::unique_ptr<LineToServer> secure_line(boost::asio::ip::tcp::socket, const TlsOptions&,
                                          const std::string&) {
  throw Error{Errc::invalid_argument, "connect", "", "tls: this build of Custodian has none"};
}

}  // namespace custodian::cli
