#pragma once

/// \file
/// ServerStream is a link's connection to a server, plain or with TLS.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/error.hpp"
#include "session/process_stream.hpp"

namespace custodian::detail {

/// One connection, for one link, which owns it and outlives each of its operations. Used on the
/// strand only. No operation calls back within the call that begins it. At most one read, and one
/// write or shut_down(), are under way.
class ServerStream {
 public:
  using Opened = std::function<void(error_code, std::string reason)>;
  using Done = std::function<void(error_code, std::size_t)>;

  virtual ~ServerStream() = default;
  ServerStream() = default;
  ServerStream(const ServerStream&) = delete;
  ServerStream& operator=(const ServerStream&) = delete;

  [[nodiscard]] virtual boost::asio::any_io_executor get_executor() = 0;
  /// What open() waits for, in words for people.
  [[nodiscard]] virtual std::string_view opening() const noexcept = 0;
  /// Verifies the server, as far as the kind of the connection can.
  virtual void open(Opened opened) = 0;
  virtual void read_some(boost::asio::mutable_buffer buffer, Done done) = 0;
  /// Writes the whole buffer.
  virtual void write(boost::asio::const_buffer buffer, Done done) = 0;
  /// Ends TLS, if the stream has it: sends close_notify, and waits for the server's.
  virtual void shut_down(std::function<void()> done) = 0;
  /// As close() and reset() of ProcessStream.
  virtual void close() = 0;
  virtual void reset() = 0;
  /// Why TLS has failed, beginning with its name; empty if the error is not one of TLS.
  [[nodiscard]] virtual std::string fault_of(error_code error) = 0;
};

/// A connection without TLS.
[[nodiscard]] std::unique_ptr<ServerStream> make_plain_stream(TcpStream server);

}  // namespace custodian::detail
