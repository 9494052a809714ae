#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/proxy_flow.hpp"
#include "proxy/proxy_rules.hpp"

namespace custodian::testing {

/// ProxyConnection is a client's connection to a FaultProxy, and the proxy's connection to the
/// target.
///
/// The handlers that wait for its sockets keep the object alive. Close it before the objects that
/// it refers to are destroyed.
class ProxyConnection : public std::enable_shared_from_this<ProxyConnection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

  struct Settings {
    Endpoints target;
    std::chrono::milliseconds connect_patience{0};
    StreamEdit edit;
    std::function<void(ProxyConnection&)> on_close;
  };

  ProxyConnection(Socket client, ProxyRules& rules, Settings settings);

  /// Connects to the target and forwards, as far as the rules allow.
  void proceed();
  /// Called when heal() of the proxy has removed all faults from the rules.
  void heal();
  /// Closes both sides.
  void close(Ending ending);

  [[nodiscard]] bool is_open() const { return is_open_; }

  /// Called when one or both of the two flows have ended.
  void settle();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Target { not_connected, connecting, connected };

  void connect();
  void on_connect(const boost::system::error_code& error);

  Settings settings_;
  ProxyRules& rules_;
  Socket client_;
  Socket server_;
  boost::asio::steady_timer retry_;
  Clock::time_point connect_deadline_{};
  Target target_ = Target::not_connected;
  bool is_open_ = true;
  ProxyFlow to_server_;
  ProxyFlow to_client_;
};

}  // namespace custodian::testing
