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
  /// Gets the reason of a failure; empty if the line has begun.
  using Begun = std::function<void(std::string failure)>;
  using Done = std::function<void(boost::system::error_code)>;

  virtual ~LineToServer() = default;
  LineToServer() = default;
  LineToServer(const LineToServer&) = delete;
  LineToServer& operator=(const LineToServer&) = delete;

  /// Prepares the line; over TLS this verifies the server.
  virtual void begin(Begun begun) = 0;
  /// When the server's certificate ends, once the line has begun; nothing without TLS.
  [[nodiscard]] virtual std::optional<std::chrono::system_clock::time_point> certificate_ends()
      const {
    return std::nullopt;
  }
  /// Sends the question.
  virtual void write(const std::string& question, Done done) = 0;
  /// Reads until the server ends the connection, or the answer has `most` bytes.
  virtual void read_to_end(std::string& answer, std::size_t most, Done done) = 0;
};

/// A plain line over a connected socket, which it takes over.
[[nodiscard]] std::unique_ptr<LineToServer> plain_line(boost::asio::ip::tcp::socket socket);

/// A line over TLS to the server of this name, over a connected socket. Throws Error if the options
/// are wrong, or if Custodian was built without TLS.
[[nodiscard]] std::unique_ptr<LineToServer> secure_line(boost::asio::ip::tcp::socket socket,
                                                        const TlsOptions& options,
                                                        const std::string& host);

}  // namespace custodian::cli
