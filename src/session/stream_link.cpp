#include "session/stream_link.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

namespace custodian::detail {

namespace asio = boost::asio;
using Pair = asio::local::stream_protocol;

StreamLink::StreamLink(std::unique_ptr<ServerStream> server, std::shared_ptr<const Sasl> sasl,
                       Address address)
    : server_{std::move(server)},
      sasl_{std::move(sasl)},
      address_{std::move(address)},
      errand_{server_->get_executor()},
      client_{Pair::socket{server_->get_executor()}},
      pause_{server_->get_executor()},
      patience_{server_->get_executor()} {}

std::string StreamLink::waits_for() const {
  if (errand_.busy()) return sasl_->preparation(address_);
  if (proof_ == Proof::wanted) return exchange_->name();
  return client_.lowest_layer().is_open() ? "" : std::string{server_->opening()};
}

// -- The beginning --------------------------------------------------------------------------------

void StreamLink::open(Opened opened) {
  server_->open([self = shared_from_this(), opened = std::move(opened)](error_code error,
                                                                        std::string reason) {
    if (self->over_) return;
    if (!error) return self->sasl_ ? self->prepare(opened) : self->begin(opened);
    self->close();
    opened(error, std::move(reason), {});
  });
}

void StreamLink::prepare(Opened opened) {
  // The handler holds a weak pointer, because the errand that keeps the handler is a member of this
  // object.
  const auto on_begun = [weak = weak_from_this(), opened](Sasl::Begun begun) {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    if (begun.client) {
      self->exchange_.emplace(std::move(begun.client));
      return self->begin(opened);
    }
    self->close();
    opened(asio::error::no_permission, begun.reason, {});
  };
  try {
    errand_.begin([sasl = sasl_, address = address_] { return sasl->begin(address); }, on_begun);
  } catch (const std::system_error& error) {
    errand_.answer({nullptr, std::string{"SASL: no thread: "} + error.what()}, on_begun);
  }
}

void StreamLink::begin(const Opened& opened) {
  error_code error;
  OwnedSocket theirs = make_pair(error);
  if (error) {
    close();
    return opened(error, "no pair of sockets: " + error.message(), {});
  }
  take_from_client();
  take_from_server();
  opened({}, {}, std::move(theirs));
}

OwnedSocket StreamLink::make_pair(error_code& error) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    error = {errno, boost::system::system_category()};
    return {};
  }
  OwnedSocket ours{ends[0]};
  OwnedSocket theirs{ends[1]};
  client_.lowest_layer().assign(Pair{}, ours.get(), error);
  if (error) return {};
  static_cast<void>(ours.release());
  asio::socket_base::send_buffer_size size;
  client_.lowest_layer().get_option(size, error);
  // While at most a quarter of the pair is taken, as the kernel counts it, a single call can add
  // another quarter, its overhead included. Asio writes no more than `longest_write` by one call.
  constexpr std::size_t longest_write = std::size_t{64} << 10U;
  gate_ = FrameGate{std::min(static_cast<std::size_t>(size.value()) / 4, longest_write)};
  return theirs;
}

// -- From the C client to the server --------------------------------------------------------------

void StreamLink::take_from_client() {
  client_.async_read_some(asio::buffer(outgoing_),
                          [self = shared_from_this()](error_code error, std::size_t count) {
                            if (self->over_) return;
                            if (error) return self->on_client_gone();
                            if (self->speaks_too_soon(count)) return self->abort();
                            self->taken_ = count;
                            self->write_next();
                          });
}

/// Begins the next write, if none is under way: the exchange's requests first, then the C client's.
void StreamLink::write_next() {
  if (writes_ || (requests_.empty() && taken_ == 0)) return;
  writes_ = true;
  if (!requests_.empty()) {
    const auto bytes = std::make_shared<std::string>(std::exchange(requests_, {}));
    return server_->write(asio::buffer(*bytes),
                          [self = shared_from_this(), bytes](error_code error, std::size_t) {
                            self->on_written(error);
                          });
  }
  server_->write(asio::buffer(outgoing_.data(), taken_),
                 [self = shared_from_this()](error_code error, std::size_t) {
                   self->taken_ = 0;
                   if (self->on_written(error)) self->take_from_client();
                 });
}

bool StreamLink::on_written(error_code error) {
  writes_ = false;
  if (over_) return false;
  if (error) {
    on_server_deaf();
    return false;
  }
  write_next();
  return true;
}

// -- The exchange ---------------------------------------------------------------------------------

/// If the C client speaks too soon, the link must end: a request would go to a server that has
/// proved nothing yet.
bool StreamLink::speaks_too_soon(std::size_t count) {
  if (exchange_) greeted_ += count;
  if (!exchange_ || greeted_ <= handshake) return false;
  fault_ = exchange_->name() + ": the C client does not wait for it";
  return true;
}

void StreamLink::authenticate() {
  using Step = SaslExchange::Step;
  SaslExchange::Verdict verdict;
  try {
    verdict = exchange_->next({incoming_.data(), arrived_});
  } catch (const std::bad_alloc&) {
    return abort();
  }
  drop(exchange_->held(), verdict.used);
  if (exchange_->held() > 0) proof_ = Proof::wanted;
  switch (verdict.step) {
    case Step::read_more: break;
    case Step::send:
      requests_ += verdict.text;
      write_next();
      break;
    case Step::over:
      proof_ = Proof::none_needed;
      exchange_.reset();
      return pass_on();
    case Step::failed:
    case Step::refused:
      fault_ = std::move(verdict.text);
      if (proof_ == Proof::wanted) {
        proof_ = verdict.step == Step::refused ? Proof::refused : Proof::failed;
      }
      return abort();
  }
  take_from_server();
}

// -- From the server to the C client --------------------------------------------------------------

void StreamLink::take_from_server() {
  try {
    make_room();
  } catch (const std::bad_alloc&) {
    // The server decides how much memory its replies take. If there is too little, only the
    // connection ends.
    return abort();
  }
  server_->read_some(asio::buffer(incoming_.data() + arrived_, incoming_.size() - arrived_),
                     [self = shared_from_this()](error_code error, std::size_t count) {
                       if (self->over_) return;
                       if (error) return self->on_server_gone(error);
                       self->arrived_ += count;
                       self->exchange_ ? self->authenticate() : self->pass_on();
                     });
}

void StreamLink::make_room() {
  if (arrived_ == incoming_.size()) {
    incoming_.resize(2 * incoming_.size());
  } else if (arrived_ < record && incoming_.size() > record) {
    incoming_.resize(record);
    incoming_.shrink_to_fit();
  }
}

void StreamLink::pass_on() {
  using Step = FrameGate::Step;
  if (arrived_ == 0) return take_from_server();
  error_code error;
  const std::size_t waiting = unread(error);
  if (error) return abort();
  const FrameGate::Verdict verdict = gate_.next({incoming_.data(), arrived_}, waiting);
  switch (verdict.step) {
    case Step::read_more: return take_from_server();
    case Step::hand_on: return hand_on(verdict.size);
    case Step::wait_for_reader: return wait_for_reader();
    case Step::judge: return judge(verdict.size);
  }
}

void StreamLink::hand_on(std::size_t size) {
  asio::async_write(client_, asio::buffer(incoming_.data(), size),
                    [self = shared_from_this(), size](error_code error, std::size_t) {
                      if (self->over_) return;
                      // If the C client has closed its end, take_from_client() reads what it has
                      // still sent.
                      if (error == asio::error::broken_pipe) return;
                      if (error) return self->abort();
                      self->drop(0, size);
                      self->pass_on();
                    });
}

void StreamLink::wait_for_reader() {
  // The kernel can say when at most a quarter of the pair is taken, but not when the pair is empty,
  // which a long frame waits for. So a timer looks again.
  pause_.expires_after(std::chrono::milliseconds{1});
  pause_.async_wait([self = shared_from_this()](error_code) {
    if (!self->over_) self->pass_on();
  });
}

void StreamLink::judge(std::size_t size) {
  if (judge_ && !judge_({incoming_.data(), size})) return abort();
  gate_.accepted(size);
  pass_on();
}

void StreamLink::drop(std::size_t from, std::size_t size) {
  const auto begin = incoming_.begin() + static_cast<std::ptrdiff_t>(from);
  std::copy(begin + static_cast<std::ptrdiff_t>(size),
            incoming_.begin() + static_cast<std::ptrdiff_t>(arrived_), begin);
  arrived_ -= size;
}

std::size_t StreamLink::unread(error_code& error) {
  int bytes = 0;
  if (::ioctl(client_.lowest_layer().native_handle(), SIOCOUTQ, &bytes) != 0) {
    error = {errno, boost::system::system_category()};
  }
  return static_cast<std::size_t>(bytes);
}

// -- The end --------------------------------------------------------------------------------------

void StreamLink::blame_server() {
  if (fault_.empty() && proof_ == Proof::wanted) {
    fault_ = exchange_->name() + ": the server ended the connection";
  }
}

/// The server, or TLS, has ended the connection.
void StreamLink::on_server_gone(error_code error) {
  fault_ = server_->fault_of(error);
  blame_server();
  abort();
}

/// The server takes nothing more. The bytes that it has sent before are still to be read: replies,
/// or the reason.
void StreamLink::on_server_deaf() {
  after_patience([](StreamLink& self) {
    self.blame_server();
    self.abort();
  });
}

/// The C client has closed its end. All that it has sent has been read, and is on its way.
void StreamLink::on_client_gone() {
  // Only the exchange can be writing now. A connection that is not authenticated is not worth a
  // wait.
  if (writes_) return abort();
  over_ = true;
  // The wait for the server's close_notify has this limit.
  after_patience([](StreamLink& self) { self.close(); });
  server_->shut_down([self = shared_from_this()] { self->close(); });
}

void StreamLink::after_patience(void (*end)(StreamLink&)) {
  patience_.expires_after(std::chrono::seconds{1});
  patience_.async_wait([self = shared_from_this(), end](error_code cancelled) {
    if (!cancelled) end(*self);
  });
}

void StreamLink::abort() {
  server_->reset();
  close();
}

/// Closes both sockets. The kernel still sends to the server what was written before.
void StreamLink::close() {
  over_ = true;
  pause_.cancel();
  patience_.cancel();
  judge_ = nullptr;
  errand_.cancel();
  server_->close();
  client_.close();
}

}  // namespace custodian::detail
