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
/// It waits for its sockets to become ready and only then reads or writes, without blocking: no
/// byte is ever in the kernel's hands when the rules change, so that a change is effective at once.
class ProxyFlow {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  /// Not null: the replies that pass are counted, and cut as it says.
  using ReplyCut = std::optional<ProxyRules::ReplyCut>;
  ProxyFlow(ProxyConnection& connection, Socket& source, Socket& sink, FlowRules& rules,
            ReplyCut* reply_cut, StreamEdit edit);

  /// The socket is connected.
  void open_source();
  void open_sink();
  /// Forwards as much as it can. Called when the rules have changed, too.
  void proceed();
  /// Delayed bytes are due.
  void hurry();
  void stop();

  /// The end of the source has been delivered.
  [[nodiscard]] bool is_finished() const { return finished_; }
  /// The destination does not read any more.
  [[nodiscard]] bool sink_is_broken() const { return sink_broken_; }
  [[nodiscard]] bool has_lost_anything() const { return lost_; }

 private:
  using Clock = std::chrono::steady_clock;

  // Bytes that were read together, or the end.
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
  // How much of the bytes may be written now; nothing: the connection is to be cut instead.
  [[nodiscard]] std::size_t permitted(std::string_view bytes) const;
  // Bytes have been delivered. False if that was the end of the connection.
  bool account(std::string_view bytes, Clock::time_point now);
  // The cut that is due, which is over with it.
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
  Clock::time_point next_write_{};  // not before, when throttled
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
