#include "run/hold_reports.hpp"

#include <algorithm>

#include "run/outcome.hpp"

namespace custodian::cli {

HoldReports::HoldReports(boost::asio::io_context& context, GuardianLink& guardian,
                         const Client& client, const Holding& holding, const RunOptions& options,
                         std::chrono::nanoseconds asked_timeout)
    : guardian_{guardian},
      client_{client},
      holding_{holding},
      options_{options},
      asked_timeout_{asked_timeout},
      beat_{context} {}

Order HoldReports::order(Order::Kind kind) const {
  if (options_.on_lost == OnLost::ignore) return {.kind = kind};
  return {.kind = kind,
          .time = holding_.until().time_since_epoch(),
          .grace = grace_after_loss(options_.on_lost, session_timeout(), options_.hold_at_most)};
}

void HoldReports::begin() {
  // The guardian has nothing to watch if the lock was released in the meantime, or its loss is to
  // be ignored.
  if (holding_.is_empty() || options_.on_lost == OnLost::ignore) return;
  guardian_.send(order(Order::Kind::hold_until));
  beat_.expires_after(std::clamp<std::chrono::nanoseconds>(
      session_timeout() / 20, std::chrono::milliseconds{50}, std::chrono::seconds{1}));
  beat_.async_wait([this](boost::system::error_code error) {
    if (!error) begin();
  });
}

void HoldReports::end() { beat_.cancel(); }

std::chrono::nanoseconds HoldReports::session_timeout() const {
  const std::chrono::nanoseconds negotiated = client_.session().timeout;
  return negotiated > negotiated.zero() ? negotiated : asked_timeout_;
}

}  // namespace custodian::cli
