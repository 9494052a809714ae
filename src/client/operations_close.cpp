/// \file
/// start_close() closes a client in an orderly way without blocking: a coroutine on the strand
/// waits until no lease is held.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "client/client_core.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/client.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> drain_and_close(CorePtr core, CancellationPtr cancellation, Deadline deadline,
                                      std::shared_ptr<Handler<bool>> handler) {
  core->begin_drain();
  for (;;) {
    if (cancellation && cancellation->requested()) {
      co_return std::move (*handler)(asio::error::operation_aborted, false);
    }
    if (core->closed() || !core->drain().has_hold() || deadline.passed()) break;
    const auto timer = std::make_shared<asio::steady_timer>(core->strand(), deadline.time_point());
    core->drain().cancel_when_drained(timer);
    if (cancellation) cancellation->on_request(timer.get(), [timer] { timer->cancel(); });
    co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
    if (cancellation) cancellation->forget(timer.get());
  }
  core->close(ClientCore::close_grace, [handler, core] {
    std::move (*handler)(error_code{}, !core->drain().has_cut_holders_off());
  });
}

}  // namespace

}  // namespace custodian::detail

namespace custodian {

// The operation is public, in namespace custodian; its helpers are in custodian::detail.
using namespace detail;

void start_close(CorePtr core, CancellationPtr cancellation, Deadline deadline,
                 Handler<bool> handler) {
  if (core->forked()) return std::move(handler)(Errc::forked, false);
  const Deadline until = deadline.or_default(core->options().operation_timeout);
  const auto ending = std::make_shared<Handler<bool>>(std::move(handler));
  spawn(core, "closing", drain_and_close(core, std::move(cancellation), until, ending),
        [ending](error_code error) {
          if (*ending) std::move (*ending)(error, false);
        });
}

}  // namespace custodian
