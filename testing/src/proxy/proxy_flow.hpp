#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "proxy/proxy_rules.hpp"
#include "wire/packet_framing.hpp"

namespace custodian::testing {

class ProxyConnection;

/// ProxyFlow is one direction of one connection through a FaultProxy.
///
/// It waits until a socket is ready, and only then reads or writes, without blocking. So no read or
/// write is under way when the rules change, and a change takes effect at once.
class ProxyFlow {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  using ReplyCut = std::optional<ProxyRules::ReplyCut>;
  /// If `reply_cut` is not null, the flow counts the replies, and cuts the connection after the
  /// number in `*reply_cut`, if that has a value.
  ProxyFlow(ProxyConnection& connection, Socket& source, Socket& sink, FlowRules& rules,
            ReplyCut* reply_cut, StreamEdit edit);

  /// Called when the source is connected.
  void open_source();
  /// Called when the sink is connected.
  void open_sink();
  /// Forwards as much as the rules allow. Call it also when the rules have changed.
  void proceed();
  /// Makes delayed and throttled bytes due at once.
  void hurry();
  void stop();

  /// Whether the end of the source has been delivered.
  [[nodiscard]] bool is_finished() const { return finished_; }
  /// Whether the destination no longer reads.
  [[nodiscard]] bool sink_is_broken() const { return sink_broken_; }
  [[nodiscard]] bool has_lost_anything() const { return lost_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Bytes that were read together, or the end of the source.
  struct Piece {
    std::string bytes;
    std::optional<Ending> end;
    Clock::time_point due;
  };

  void wait_to_read();
  void read();
  void end_source(Ending ending);
  void enqueue(std::string bytes, std::optional<Ending> end);
  void deliver();
  void deliver_end(Ending ending);
  // How many of the bytes may be written now; 0: the connection must be cut instead.
  [[nodiscard]] std::size_t permitted(std::string_view bytes) const;
  // Counts delivered bytes. False if the connection ends with them.
  bool account(std::string_view bytes, Clock::time_point now);
  // Removes the due cut from the rules, and returns how it ends the connection.
  Ending take_cut();
  void wait_to_write();
  void wait_until(Clock::time_point time);
  void lose_queue();

  ProxyConnection& connection_;
  Socket& source_;
  Socket& sink_;
  FlowRules& rules_;
  ReplyCut* const reply_cut_;
  const StreamEdit edit_;
  PacketFraming framing_;
  boost::asio::steady_timer timer_;

  std::deque<Piece> queue_;
  std::size_t queued_bytes_ = 0;
  Clock::time_point next_write_{};  // the earliest time of the next write, if throttled
  bool source_open_ = false;
  bool sink_open_ = false;
  bool sink_broken_ = false;
  bool waiting_to_read_ = false;
  bool waiting_to_write_ = false;
  bool source_ended_ = false;
  bool finished_ = false;
  bool lost_ = false;
};

}  // namespace custodian::testing
