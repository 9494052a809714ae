#pragma once

/// \file
/// FaultProxy is a TCP proxy in front of a server, for a test. On demand it fails in the ways in
/// which the network between a client and its server can fail.
///
/// \code
/// custodian::testing::TestingServer server;
/// custodian::testing::FaultProxy proxy{server.endpoint()};
/// custodian::Client client{proxy.connect_string()};
/// proxy.hold_back();  // the network is cut
/// ...
/// proxy.heal();       // the network is back, and all that was sent meanwhile arrives
/// \endcode
///
/// The proxy works below ZooKeeper, on bytes; only `cut_after_replies()` knows ZooKeeper's packets.
/// When not to use it: to let exactly one request fail before or after it is applied, which a
/// `FakeEnsemble` does by name.
///
/// What a proxy cannot do: leave a connection attempt unanswered. While the network is cut, the
/// kernel accepts a new connection, which stays silent. A connection to a target that is down is
/// accepted, too, and reset when the target has refused it.
///
/// Threads: the proxy has a thread of its own; any thread may call any function. A function has
/// taken effect when it returns: after `hold_back()`, say, not one more byte is delivered.
/// Lifetimes: the destructor closes everything.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::testing {

/// The direction of bytes: from the clients to the server, or back.
enum class Direction { to_server, to_client, both };

/// How a connection is closed, on both of its sides.
enum class Ending {
  orderly,  ///< end of file, as a process that ends causes it
  reset,    ///< "connection reset by peer", as a firewall or a rebooted machine causes it
};

/// Whether the last reply before a cut arrives.
enum class LastReply { arrives, is_lost };

/// Edits the bytes that one connection sends. Called on the proxy's thread, with all bytes in
/// order, in pieces as they come. The edit may hold bytes back until a later call.
using StreamEdit = std::function<std::string(std::string_view)>;

/// How a proxy behaves without a fault.
struct FaultProxyOptions {
  /// The address on which the proxy listens, on a free port.
  std::string address = "127.0.0.1";
  /// How long the proxy retries a target that refuses, before it resets the client's connection. A
  /// target that is about to start needs more than 0.
  std::chrono::milliseconds connect_patience{0};
  /// Makes the edit for the bytes that a new connection sends to the server, to spoil them for
  /// instance. Null: no edit.
  std::function<StreamEdit()> edit_to_server;
};

/// A TCP proxy in front of a server. It fails on demand.
/// \copydetails custodian/testing/fault_proxy.hpp
class FaultProxy {
 public:
  /// Listens when constructed; the target need not be there yet. Throws `TestingError` if the
  /// target's name cannot be resolved or there is no free port.
  explicit FaultProxy(const ServerEndpoint& target, FaultProxyOptions options = {});
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  /// The endpoint that clients connect to; it does not change while the proxy lives.
  [[nodiscard]] const ServerEndpoint& endpoint() const;
  /// endpoint() as a connection string.
  [[nodiscard]] std::string connect_string() const;
  /// Sets the target of new connections. Connections that exist stay.
  void set_target(const ServerEndpoint& target);

  /// \name Faults
  /// Several faults act together. Of hold_back() and black_hole() only the later call counts, in
  /// each direction. Each fault lasts until another call changes it, or until heal().
  /// \{

  /// Closes all present connections. New connections are accepted.
  void cut(Ending ending = Ending::orderly);
  /// Refuses new connections ("connection refused"); connections that exist stay. accept() ends
  /// this.
  void refuse();
  /// Accepts new connections again.
  void accept();

  /// Cuts the network: nothing is delivered, not even the end of a connection. Nothing is lost
  /// either: TCP repeats all bytes, so that they arrive after heal(). If the direction to the
  /// server is cut, new connections, too, reach the server only after heal().
  void hold_back(Direction direction = Direction::both);
  /// Cuts the network as hold_back() does, but all bytes that are sent are lost. heal() cuts a
  /// connection that has lost bytes, since the later bytes would make no sense.
  void black_hole(Direction direction = Direction::both);

  /// Delays all bytes that are sent from now on by `latency`; order and bandwidth stay the same.
  void delay(Direction direction, std::chrono::milliseconds latency);
  /// Limits the bandwidth of each connection; 0: no limit.
  void throttle(Direction direction, std::uint64_t bytes_per_second);

  /// Counts delivered bytes, over all connections. After `count` further bytes, the connection that
  /// carried the last of them is cut, and counting ends. With a `count` of 0 the cut comes in the
  /// place of the next byte. With `Direction::both` each direction has a count of its own.
  void cut_after_bytes(Direction direction, std::uint64_t count, Ending ending = Ending::orderly);
  /// Cuts as cut_after_bytes() does, but counts packets from a ZooKeeper server: the answer to the
  /// handshake, replies (also to pings), and watch events. With `LastReply::is_lost` the proxy
  /// waits for the last packet, so that the server has processed the request, but does not deliver
  /// it. Throws `std::invalid_argument` for a count of 0.
  void cut_after_replies(std::uint64_t count, LastReply last = LastReply::arrives,
                         Ending ending = Ending::orderly);

  /// Ends all faults: the proxy accepts connections, and delivers at once all bytes that were held
  /// back or delayed.
  void heal();
  /// \}

  /// \name For assertions
  /// \{

  /// The number of connections that are open on the clients' side, as far as the proxy has noticed.
  [[nodiscard]] std::size_t connections() const;
  /// The number of connections that were accepted so far.
  [[nodiscard]] std::uint64_t accepted() const;
  /// The number of bytes that were delivered so far.
  [[nodiscard]] std::uint64_t bytes(Direction direction) const;
  /// \}

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace custodian::testing
