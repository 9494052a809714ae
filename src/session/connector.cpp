#include "session/connector.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <utility>

#include "session/stream_link.hpp"

namespace custodian::detail {

namespace asio = boost::asio;
using asio::ip::tcp;

/// One address that is dialled.
struct Connector::Call {
  Call(const asio::any_io_executor& strand, Address whose)
      : address{std::move(whose)}, stream{tcp::socket{strand}} {}

  [[nodiscard]] tcp::socket& socket() { return stream.lowest_layer(); }

  Address address;
  TcpStream stream;
};

struct Connector::Attempt {
  explicit Attempt(const asio::any_io_executor& strand) : time{strand}, head_start{strand} {}

  std::vector<Address> waiting{};              ///< addresses that are not dialled yet
  std::vector<std::unique_ptr<Call>> calls{};  ///< in the order in which they began
  std::size_t failures = 0;                    ///< how many of `calls` have failed
  const Call* taken = nullptr;                 ///< the first that was connected
  asio::steady_timer time;
  asio::steady_timer head_start;
  std::shared_ptr<SecureLink> link{};
  Handler handler{};  ///< empty when the attempt has ended
};

namespace {

/// Opens a socket that is closed on exec. Asio's own sockets are inherited by every child process
/// that the application starts.
error_code open(tcp::socket& socket, const tcp& protocol) {
  OwnedSocket fresh{
      ::socket(protocol.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP)};
  if (fresh.get() < 0) return {errno, boost::system::system_category()};
  error_code error;
  socket.assign(protocol, fresh.get(), error);
  if (error) return error;
  static_cast<void>(fresh.release());
  socket.set_option(tcp::no_delay{true}, error);
  return error;
}

}  // namespace

Connector::Connector(asio::any_io_executor strand, std::shared_ptr<Tls> tls,
                     std::shared_ptr<const Sasl> sasl, Log log)
    : strand_{std::move(strand)},
      tls_{std::move(tls)},
      sasl_{std::move(sasl)},
      log_{std::move(log)} {}

Connector::~Connector() { cancel(); }

// A connection, the last failure or the timeout ends the attempt, whichever comes first. Handlers
// may use `this` as long as the attempt has a handler: cancel(), which the destructor calls,
// removes it.

void Connector::connect(std::vector<Address> addresses, std::chrono::milliseconds timeout,
                        Handler handler) {
  cancel();
  const auto attempt = attempt_ = std::make_shared<Attempt>(strand_);
  attempt->waiting = std::move(addresses);
  attempt->handler = std::move(handler);
  attempt->time.expires_after(timeout);
  attempt->time.async_wait([this, attempt](error_code cancelled) {
    if (cancelled || !attempt->handler) return;
    const error_code late = asio::error::timed_out;
    const Call& newest = *attempt->calls.back();
    if (!attempt->taken)
      return end(attempt, newest.address, {.error = late, .reason = late.message()});
    end(attempt, attempt->taken->address,
        {.error = late, .reason = attempt->link->waits_for() + ": " + late.message()});
  });
  dial_next(attempt);
}

void Connector::dial_next(const AttemptPtr& attempt) {
  attempt->head_start.cancel();
  attempt->calls.push_back(std::make_unique<Call>(strand_, std::move(attempt->waiting.front())));
  attempt->waiting.erase(attempt->waiting.begin());
  Call& call = *attempt->calls.back();
  const auto on_result = [this, attempt, &call](error_code error) {
    // The other call may have been taken while this one's result was queued.
    if (!attempt->handler || attempt->taken != nullptr) return;
    error ? on_failed(attempt, call, error) : on_connected(attempt, call);
  };
  if (const error_code error = open(call.socket(), call.address.endpoint.protocol())) {
    return asio::post(strand_, [on_result, error] { on_result(error); });
  }
  call.socket().async_connect(call.address.endpoint, on_result);
  if (attempt->waiting.empty()) return;
  attempt->head_start.expires_after(head_start);
  attempt->head_start.async_wait([this, attempt](error_code cancelled) {
    if (!cancelled && attempt->handler && !attempt->waiting.empty()) dial_next(attempt);
  });
}

void Connector::on_failed(const AttemptPtr& attempt, const Call& call, error_code error) {
  ++attempt->failures;
  if (!attempt->waiting.empty()) return dial_next(attempt);
  if (attempt->failures < attempt->calls.size()) return;
  end(attempt, call.address, {.error = error, .reason = error.message()});
}

void Connector::on_connected(const AttemptPtr& attempt, Call& call) {
  attempt->taken = &call;
  attempt->head_start.cancel();
  attempt->waiting.clear();
  for (const auto& each : attempt->calls) {
    if (each.get() != &call) each->stream.reset();
  }
  if (tls_ || sasl_) return secure(attempt, call);
  error_code error;
  OwnedSocket socket{call.socket().release(error)};
  end(attempt, call.address,
      {.error = error, .reason = error.message(), .socket = std::move(socket)});
}

void Connector::secure(const AttemptPtr& attempt, Call& call) {
  const auto protocol = call.address.endpoint.protocol();
  if (const error_code error = call.stream.forget_wait_for_output(protocol)) {
    return end(attempt, call.address, {.error = error, .reason = error.message()});
  }
  try {
    auto stream = tls_ ? tls_->stream(std::move(call.stream), call.address, log_)
                       : make_plain_stream(std::move(call.stream));
    attempt->link = std::make_shared<StreamLink>(std::move(stream), sasl_, call.address);
  } catch (const std::exception& failed) {
    return end(attempt, call.address, {.error = asio::error::no_memory, .reason = failed.what()});
  }
  attempt->link->open(
      [this, attempt, &call](error_code error, std::string reason, OwnedSocket socket) {
        if (!attempt->handler) return;
        std::shared_ptr<SecureLink> link = error ? nullptr : std::exchange(attempt->link, nullptr);
        end(attempt, call.address,
            {.error = error,
             .reason = std::move(reason),
             .socket = std::move(socket),
             .link = std::move(link)});
      });
}

void Connector::end(const AttemptPtr& attempt, const Address& address, Dialled dialled) {
  dialled.address = address;
  dialled.accepted = attempt->taken != nullptr;
  for (const auto& call : attempt->calls) {
    // A call that began later than the taken one has neither failed nor been too slow.
    if (call.get() == attempt->taken) break;
    if (call->address != address) dialled.others.push_back(call->address);
  }
  const Handler ended = attempt->handler;
  cancel();
  ended(std::move(dialled));
}

void Connector::cancel() {
  const auto attempt = std::exchange(attempt_, nullptr);
  if (!attempt) return;
  attempt->handler = nullptr;
  attempt->time.cancel();
  attempt->head_start.cancel();
  // The taken call's socket has been handed on, and its stream is empty.
  for (const auto& call : attempt->calls) call->stream.reset();
  if (const auto link = std::exchange(attempt->link, nullptr)) link->abort();
}

}  // namespace custodian::detail
