#pragma once

/// \file
/// ServeSite answers the requests to `custodian serve`: the page, the API, the metrics.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/inspect/list_locks.hpp"
#include "doctor/examination.hpp"
#include "http/http_server.hpp"
#include "serve/lock_board.hpp"
#include "serve/serve_routes.hpp"
#include "serve/shared_answers.hpp"

namespace custodian::cli {

struct ServeTerms {
  std::vector<std::string> paths{"/"};
  std::chrono::milliseconds every{1000};
  ListOptions list{};
  /// For /api/servers.
  ClientOptions client{};
  ExaminationRequest examination{};
};

/// Threads: the context's, of which there must be one. The site must outlive the connections of its
/// HttpServer.
class ServeSite {
 public:
  ServeSite(boost::asio::io_context& context, Client client, ServeTerms terms);
  ServeSite(const ServeSite&) = delete;
  ServeSite& operator=(const ServeSite&) = delete;
  ~ServeSite() = default;

  [[nodiscard]] boost::asio::awaitable<HttpAnswer> answer(HttpTarget target);
  /// Ends the streams of events, and the requests to the ZooKeeper servers.
  void stop();
  /// Waits for the end of the requests to the ZooKeeper servers. To be called before the context
  /// ends.
  void join();
  /// Whether the servers are being examined, which can last for half a minute.
  [[nodiscard]] bool is_examining() const noexcept { return examinations_.is_working(); }

 private:
  [[nodiscard]] boost::asio::awaitable<HttpResponse> walked(ServeRoute route);
  [[nodiscard]] boost::asio::awaitable<HttpResponse> queue_of(std::string path);
  [[nodiscard]] boost::asio::awaitable<HttpResponse> servers();
  [[nodiscard]] HttpResponse health() const;

  Client client_;
  const ServeTerms terms_;
  LockBoard board_;
  SharedAnswers looks_;
  SharedAnswers examinations_;
};

}  // namespace custodian::cli
