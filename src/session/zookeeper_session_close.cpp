/// \file
/// This file ends a session without blocking.
///
/// zookeeper_close() sends the end of the session and then blocks until the socket is readable, or
/// for one and a half seconds. So a harmless request goes out first, and its reply is left unread:
/// the C client finds the socket readable and returns at once. Our duplicate of the descriptor
/// keeps the connection open until the server has seen the end of the session and closes it.

#include <boost/asio/post.hpp>

#include "session/zookeeper_session.hpp"

namespace custodian::detail {

using std::chrono::steady_clock;

void ZooKeeperSession::close(std::chrono::milliseconds grace, std::function<void()> done) {
  using AfterClose = Reconnect::AfterClose;
  switch (reconnect_.close()) {
    case AfterClose::nothing:
      if (done) boost::asio::post(strand_, std::move(done));
      break;
    case AfterClose::wait_for_the_first:
      closing_->done = [first = std::move(closing_->done), second = std::move(done)] {
        if (first) first();
        if (second) second();
      };
      break;
    case AfterClose::begin_closing:
      begin_closing({steady_clock::now() + grace, std::move(done)});
      break;
  }
}

void ZooKeeperSession::begin_closing(Closing closing) {
  const bool connected = reconnect_.connected();
  closing_ = std::move(closing);
  stop_probe();
  stop_trial();
  resolver_.cancel();
  connector_.cancel();
  info_.id = 0;
  boost::asio::post(strand_, [self = shared_from_this(), connected] {
    // The connection may have failed meanwhile, and the closing may be over.
    if (!self->reconnect_.closing()) return;
    if (!self->client_ || !connected) return self->finish_closing();
    // The request has no entry in the table: no caller waits for its completion.
    self->client_->stop_reading();
    static_cast<void>(self->client_->submit(request::Exists{"/", nullptr}, 0, Arms::nothing));
    self->pump_closing();
  });
}

void ZooKeeperSession::pump_closing() {
  if (!client_) return;
  const Interest interest = client_->interest();
  const auto now = steady_clock::now();
  if (interest.error || client_->state() != HandleState::connected) return finish_closing();
  if (now >= closing_->deadline) {
    cut_off();
    return finish_closing();
  }
  descriptor_.follow(interest.descriptor);
  const auto self = shared_from_this();
  // zookeeper_close() would block until the socket has room for output, too.
  if (interest.write || !descriptor_.has_room()) {
    descriptor_.wait_writable([self] { self->work(false, true); });
  } else {
    descriptor_.wait_readable([self] {
      if (!self->client_) return;
      self->descriptor_.has_room() ? self->finish_closing() : self->pump_closing();
    });
  }
  wake_after(std::chrono::ceil<std::chrono::milliseconds>(closing_->deadline - now));
}

void ZooKeeperSession::finish_closing() {
  // The operations are completed here, because the completions that the C client makes when it is
  // closed are not read.
  fail_operations(Errc::closed);
  end_watches(Errc::closed);
  if (client_) {
    // Without a session on the connection, the server would not close it, so nothing waits for
    // that.
    if (client_->state() != HandleState::connected) descriptor_.release();
    client_->close();
    client_.reset();
  }
  wait_for_end_of_connection();
}

void ZooKeeperSession::wait_for_end_of_connection() {
  if (!reconnect_.closing()) return;
  if (!descriptor_.is_open() || steady_clock::now() >= closing_->deadline ||
      !descriptor_.discard_input()) {
    return closed();
  }
  const auto self = shared_from_this();
  descriptor_.wait_readable([self] { self->wait_for_end_of_connection(); });
  stop_timer();
  timer_.expires_at(closing_->deadline);
  timer_.async_wait([self](error_code error) {
    if (!error) self->wait_for_end_of_connection();
  });
}

void ZooKeeperSession::closed() {
  stop_timer();
  descriptor_.release();
  // The link ends with the session, even if somebody keeps the session.
  drop_link();
  if (reconnect_.on_end(SessionState::closed)) notify_state();
  if (auto done = std::exchange(closing_->done, nullptr)) done();
}

}  // namespace custodian::detail
