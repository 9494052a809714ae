#pragma once

/// \file
/// LeaderPage is the HTTP server of `custodian elect --http`: it answers whether this candidate
/// leads.

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "custodian/client.hpp"
#include "http/http_message.hpp"
#include "http/http_server.hpp"
#include "http/http_target.hpp"
#include "run/holding.hpp"

namespace custodian::cli {

/// What a candidate knows of its leadership, at the time of a request.
struct Leading {
  std::string path{};
  bool is_connected = false;
  /// True if this candidate certainly leads; otherwise the members below are empty.
  bool leads = false;
  std::string node{};
  std::string token{};
  std::string identity{};
};

[[nodiscard]] Leading leading_of(const std::string& path, const Client& client,
                                 const Holding& holding);

/// How much an answer says.
enum class LeaderDetails : std::uint8_t {
  shown,
  /// Only yes or no: for a server that other machines can reach, and that has no token.
  withheld,
};

/// The response to a target: /leader has the status 200 for the leader and 503 for the others,
/// /healthz always 200. Pure.
[[nodiscard]] HttpResponse leader_response(const HttpTarget& target, const Leading& leading,
                                           LeaderDetails details);

struct LeaderPageOptions {
  std::string listen{};  ///< empty: no page
  std::string token_file{};
};

/// Threads: the context's, one at a time.
class LeaderPage {
 public:
  /// Listens, and prints the address, unless the options name none. `leading` is called at each
  /// request. Throws UsageError.
  LeaderPage(boost::asio::io_context& context, const LeaderPageOptions& options,
             std::function<Leading()> leading);

 private:
  std::unique_ptr<HttpServer> server_;
};

}  // namespace custodian::cli
