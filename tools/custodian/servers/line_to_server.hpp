#pragma once

/// \file
/// LineToServer is a connection to a server for one question and its answer, plain or over TLS.

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "custodian/tls_options.hpp"

namespace custodian::cli {

class LineToServer {
 public:
  /// Called with an empty text when the line has begun, or with the reason why it could not begin.
  using Begun = std::function<void(std::string failure)>;
  using Done = std::function<void(boost::system::error_code)>;

  virtual ~LineToServer() = default;
  LineToServer() = default;
  LineToServer(const LineToServer&) = delete;
  LineToServer& operator=(const LineToServer&) = delete;

  /// Prepares the line; over TLS this verifies the server.
  virtual void begin(Begun begun) = 0;
  /// The time at which the server's certificate ends, once the line has begun; nothing without TLS.
  [[nodiscard]] virtual std::optional<std::chrono::system_clock::time_point> certificate_ends()
      const {
    return std::nullopt;
  }
  /// Sends the question.
  virtual void write(const std::string& question, Done done) = 0;
  /// Reads until the server ends the connection, or the answer has `most` bytes.
  virtual void read_to_end(std::string& answer, std::size_t most, Done done) = 0;
};

/// Makes a plain line over a connected socket, which it takes over.
[[nodiscard]] std::unique_ptr<LineToServer> plain_line(boost::asio::ip::tcp::socket socket);

/// Makes a line over TLS to the server of this name, over a connected socket. Throws Error if the
/// options are wrong, or if Custodian was built without TLS.
[[nodiscard]] std::unique_ptr<LineToServer> secure_line(boost::asio::ip::tcp::socket socket,
                                                        const TlsOptions& options,
                                                        const std::string& host);

}  // namespace custodian::cli
