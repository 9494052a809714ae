#pragma once

/// \file
/// The shop over HTTP:
///
///     POST /orders/<item>?pieces=<n>   sells: 200, 404, 409 out_of_stock, or 503 with the reason
///     GET  /stock/<item>               how many pieces there are
///     GET  /healthz                    200 for as long as the process answers
///     GET  /readyz                     503 while it shuts down, or ZooKeeper has long been away
///     GET  /metrics                    for Prometheus

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http.hpp>
#include <string>

#include "health.hpp"
#include "metrics.hpp"
#include "shop.hpp"
#include "stock.hpp"

namespace inventory {

/// The objects that answer the requests. All of them must outlive the server.
struct Service {
  Shop& shop;
  Stock& stock;
  Health& health;
  Metrics& metrics;
};

/// Accepts connections until the acceptor is closed, and serves each in a coroutine of its own.
boost::asio::awaitable<void> serve(boost::asio::ip::tcp::acceptor& acceptor, Service service);

}  // namespace inventory
