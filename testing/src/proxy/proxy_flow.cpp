#include "proxy/proxy_flow.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <utility>

#include "proxy/proxy_connection.hpp"

namespace custodian::testing {

namespace asio = boost::asio;
using boost::system::error_code;
using Mode = FlowRules::Mode;

namespace {

constexpr std::size_t kibibyte = 1024;
// This many bytes may be in flight before the sender has to wait, as with TCP's window.
constexpr std::size_t window = 64 * kibibyte;
// With a delay the window is larger, so that bytes in flight do not limit the bandwidth.
constexpr std::size_t window_with_delay = 256 * window;

}  // namespace

ProxyFlow::ProxyFlow(ProxyConnection& connection, Socket& source, Socket& sink, FlowRules& rules,
                     ReplyCut* reply_cut, StreamEdit edit)
    : connection_{connection},
      source_{source},
      sink_{sink},
      rules_{rules},
      reply_cut_{reply_cut},
      edit_{std::move(edit)},
      timer_{source.get_executor()} {}

void ProxyFlow::open_source() { source_open_ = true; }
void ProxyFlow::open_sink() { sink_open_ = true; }

void ProxyFlow::proceed() {
  if (connection_.is_open()) deliver();
  if (connection_.is_open()) wait_to_read();
}

void ProxyFlow::hurry() {
  for (Piece& piece : queue_) piece.due = {};
  next_write_ = {};
}

void ProxyFlow::stop() {
  timer_.cancel();
  queue_.clear();
}

// -- Reading --------------------------------------------------------------------------------------

void ProxyFlow::wait_to_read() {
  const bool full = queued_bytes_ >= (rules_.delay.count() > 0 ? window_with_delay : window);
  if (!source_open_ || source_ended_ || waiting_to_read_ || full || rules_.mode == Mode::hold_back)
    return;
  waiting_to_read_ = true;
  source_.async_wait(Socket::wait_read, [this, keep = connection_.shared_from_this()](error_code) {
    waiting_to_read_ = false;
    if (!connection_.is_open()) return;
    // The network may have been cut in the meantime.
    if (rules_.mode != Mode::hold_back) read();
    proceed();
  });
}

void ProxyFlow::read() {
  std::array<char, 16 * kibibyte> buffer{};
  error_code error;
  const std::size_t count = source_.read_some(asio::buffer(buffer), error);
  if (error == asio::error::would_block || error == asio::error::interrupted) return;
  if (error) return end_source(error == asio::error::eof ? Ending::orderly : Ending::reset);
  const std::string_view bytes{buffer.data(), count};
  enqueue(edit_ ? edit_(bytes) : std::string{bytes}, std::nullopt);
}

void ProxyFlow::end_source(Ending ending) {
  source_ended_ = true;
  enqueue({}, ending);
}

void ProxyFlow::enqueue(std::string bytes, std::optional<Ending> end) {
  if (bytes.empty() && !end) return;
  queued_bytes_ += bytes.size();
  queue_.push_back({std::move(bytes), end, Clock::now() + rules_.delay});
}

// -- Writing --------------------------------------------------------------------------------------

void ProxyFlow::deliver() {
  if (rules_.mode == Mode::swallow) lose_queue();
  while (!queue_.empty() && sink_open_ && !waiting_to_write_ && rules_.mode == Mode::pass) {
    Piece& piece = queue_.front();
    const auto now = Clock::now();
    if (const auto time = std::max(piece.due, next_write_); time > now) return wait_until(time);
    if (piece.end) return deliver_end(*piece.end);
    std::size_t count = piece.bytes.size();
    if (!sink_broken_) {
      count = permitted(piece.bytes);
      if (count == 0) {
        return connection_.close(take_cut());
      }
      error_code error;
      count = sink_.write_some(asio::buffer(piece.bytes, count), error);
      if (error == asio::error::would_block) return wait_to_write();
      // ProxyConnection::settle() decides by the other direction whether the source is closed, too.
      sink_broken_ = static_cast<bool>(error);
      if (!error && !account(std::string_view{piece.bytes}.substr(0, count), now)) return;
      if (error) continue;
    }
    queued_bytes_ -= count;
    piece.bytes.erase(0, count);
    if (piece.bytes.empty()) queue_.pop_front();
  }
  if (sink_broken_) connection_.settle();
}

void ProxyFlow::deliver_end(Ending ending) {
  queue_.clear();
  finished_ = true;
  if (ending == Ending::reset) return connection_.close(Ending::reset);
  error_code ignored;
  sink_.shutdown(Socket::shutdown_send, ignored);
  connection_.settle();
}

std::size_t ProxyFlow::permitted(std::string_view bytes) const {
  std::uint64_t count = bytes.size();
  if (rules_.cut) count = std::min(count, rules_.cut->bytes_left);
  if (reply_cut_ != nullptr && *reply_cut_) {
    count =
        std::min<std::uint64_t>(count, framing_.bytes_within(bytes, (*reply_cut_)->replies_left));
  }
  if (count > 0 && rules_.bytes_per_second > 0) {
    // About fifty writes per second make an even flow.
    count = std::min(count, std::max<std::uint64_t>(rules_.bytes_per_second / 50, 1));
  }
  return static_cast<std::size_t>(count);
}

bool ProxyFlow::account(std::string_view bytes, Clock::time_point now) {
  rules_.delivered += bytes.size();
  if (rules_.bytes_per_second > 0) {
    const double seconds =
        static_cast<double>(bytes.size()) / static_cast<double>(rules_.bytes_per_second);
    next_write_ =
        now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>{seconds});
  }
  bool ends = false;
  Ending ending = Ending::orderly;
  if (rules_.cut) {
    rules_.cut->bytes_left -= bytes.size();
    if (rules_.cut->bytes_left == 0) {
      ends = true;
      ending = rules_.cut->ending;
      rules_.cut.reset();
    }
  }
  if (reply_cut_ != nullptr) {
    const std::uint64_t replies = framing_.advance(bytes);
    if (*reply_cut_) {
      auto& cut = **reply_cut_;
      cut.replies_left -= std::min(replies, cut.replies_left);
      if (cut.replies_left == 0 && cut.last == LastReply::arrives) {
        ends = true;
        ending = cut.ending;
        reply_cut_->reset();
      }
    }
  }
  if (ends) connection_.close(ending);
  return !ends;
}

Ending ProxyFlow::take_cut() {
  Ending ending = Ending::orderly;
  if (rules_.cut && rules_.cut->bytes_left == 0) {
    ending = rules_.cut->ending;
    rules_.cut.reset();
  } else if (reply_cut_ != nullptr && reply_cut_->has_value()) {
    ending = (*reply_cut_)->ending;
    reply_cut_->reset();
  }
  return ending;
}

void ProxyFlow::wait_to_write() {
  waiting_to_write_ = true;
  sink_.async_wait(Socket::wait_write, [this, keep = connection_.shared_from_this()](error_code) {
    waiting_to_write_ = false;
    proceed();
  });
}

void ProxyFlow::wait_until(Clock::time_point time) {
  timer_.expires_at(time);
  timer_.async_wait([this, keep = connection_.shared_from_this()](error_code error) {
    if (!error) proceed();
  });
}

void ProxyFlow::lose_queue() {
  lost_ = lost_ || !queue_.empty();
  queue_.clear();
  queued_bytes_ = 0;
}

}  // namespace custodian::testing
