#include "server/reserved_port.hpp"

#include <fcntl.h>

#include <boost/asio/ip/address.hpp>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::testing {

using boost::asio::ip::tcp;

ReservedPort::ReservedPort(const std::string& address) {
  boost::system::error_code error;
  const tcp::endpoint any_port{boost::asio::ip::make_address(address, error), 0};
  if (!error) socket_.open(any_port.protocol(), error);
  if (!error) ::fcntl(socket_.native_handle(), F_SETFD, FD_CLOEXEC);
  if (!error) socket_.bind(any_port, error);
  // The option is set only now: before bind(), it would let the kernel choose the port of another
  // ReservedPort.
  if (!error) socket_.set_option(tcp::socket::reuse_address{true}, error);
  if (error) throw TestingError{"no free port on " + address + ": " + error.message()};
}

std::uint16_t ReservedPort::number() const { return socket_.local_endpoint().port(); }

}  // namespace custodian::testing
