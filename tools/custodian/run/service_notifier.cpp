#include "run/service_notifier.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "one_line.hpp"
#include "options/messages.hpp"
#include "options/usage_error.hpp"
#include "text/printable_text.hpp"

namespace asio = boost::asio;

namespace custodian::cli {

using asio::local::datagram_protocol;

// -- What systemd says ----------------------------------------------------------------------------

namespace {

std::string take_variable(const char* name) {
  const char* const value = std::getenv(name);
  std::string taken = value != nullptr ? value : "";
  ::unsetenv(name);
  return taken;
}

std::int64_t positive(std::string_view name, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number <= 0) {
    throw UsageError{std::string{name} + " in the environment is no positive number: " +
                     printable(text) + " (systemd sets it; take it out)"};
  }
  return number;
}

}  // namespace

ServiceManager take_service_manager(pid_t self) {
  ServiceManager manager{.socket = take_variable("NOTIFY_SOCKET")};
  const std::string watchdog = take_variable("WATCHDOG_USEC");
  const std::string meant = take_variable("WATCHDOG_PID");
  if (watchdog.empty()) return manager;
  const bool is_for_us = meant.empty() || positive("WATCHDOG_PID", meant) == self;
  const std::chrono::microseconds time{positive("WATCHDOG_USEC", watchdog)};
  if (is_for_us) manager.watchdog = time;
  return manager;
}

// -- What systemd hears ---------------------------------------------------------------------------

std::string to_notification(const News& news) {
  std::string lines;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!lines.empty()) lines += '\n';
    (lines += name) += value;
  };
  if (news.ready) add("READY=", "1");
  if (news.stopping) add("STOPPING=", "1");
  // A line break in an identity must not begin another piece of news.
  if (news.status) add("STATUS=", detail::in_one_line(*news.status));
  if (news.patience) add("EXTEND_TIMEOUT_USEC=", std::to_string(news.patience->count()));
  if (news.alive) add("WATCHDOG=", "1");
  return lines;
}

namespace {

datagram_protocol::endpoint address_of(std::string name) {
  // Linux's abstract names begin with a zero.
  if (name.front() == '@') name.front() = '\0';
  if (name.front() != '\0' && name.front() != '/') {
    throw UsageError{"NOTIFY_SOCKET is neither a path nor an abstract name: " + printable(name)};
  }
  try {
    return {name};
  } catch (const boost::system::system_error&) {
    throw UsageError{"NOTIFY_SOCKET is too long for the address of a socket: " + printable(name)};
  }
}

/// An extension lasts for several beats, for a busy machine may miss one.
constexpr std::chrono::seconds extension{60};
constexpr std::chrono::seconds extension_beat{15};

}  // namespace

ServiceNotifier::ServiceNotifier(asio::io_context& context, const ServiceManager& manager)
    : context_{context}, watchdog_{manager.watchdog}, extension_{context}, next_beat_{context} {
  if (manager.socket.empty()) return;
  const datagram_protocol::endpoint address = address_of(manager.socket);
  datagram_protocol::socket socket{context, datagram_protocol{}};
  boost::system::error_code error;
  // Only a connected socket becomes writable when a full queue has room again.
  socket.connect(address, error);
  if (error) {
    say_failure(error);
  } else {
    socket_ = std::move(socket);
  }
}

void ServiceNotifier::starts(std::string_view status) {
  if (!is_active()) return;
  news_.status = status;
  if (!is_ready_ && !is_stopping_) extend();
  send();
}

void ServiceNotifier::ready(std::string_view status) {
  if (!is_active()) return;
  extension_.cancel();
  if (!std::exchange(is_ready_, true)) {
    news_.ready = true;
    news_.patience.reset();
  }
  news_.status = status;
  send();
}

void ServiceNotifier::status(std::string_view status) {
  if (!is_active()) return;
  news_.status = status;
  send();
}

void ServiceNotifier::stops() {
  if (!is_active() || std::exchange(is_stopping_, true)) return;
  extension_.cancel();
  news_.stopping = true;
  send();
}

void ServiceNotifier::extend() {
  news_.patience = extension;
  extension_.expires_after(extension_beat);
  extension_.async_wait([this](boost::system::error_code cancelled) {
    if (cancelled || is_ready_ || is_stopping_) return;
    extend();
    send();
  });
}

void ServiceNotifier::begin_beats(asio::any_io_executor other) {
  if (!is_active() || !watchdog_) return;
  other_ = std::move(other);
  beat();
}

void ServiceNotifier::beat() {
  news_.alive = true;
  send();
  next_beat_.expires_after(*watchdog_ / 3);
  next_beat_.async_wait([this](boost::system::error_code cancelled) {
    if (cancelled) return;
    // The way goes through the other executor: if that hangs, no beat follows.
    asio::post(other_, [this, &context = context_] { asio::post(context, [this] { beat(); }); });
  });
}

void ServiceNotifier::send() {
  if (!sending_.empty() || news_.is_empty()) return;
  sending_ = to_notification(std::exchange(news_, {}));
  socket_->async_send(asio::buffer(sending_),
                      [this](boost::system::error_code error, std::size_t /*sent*/) {
                        if (error == asio::error::operation_aborted) return;
                        sending_.clear();
                        if (error) say_failure(error);
                        send();
                      });
}

void ServiceNotifier::say_failure(const boost::system::error_code& error) {
  if (std::exchange(is_failure_said_, true)) return;
  say("systemd cannot be notified at its NOTIFY_SOCKET: " + error.message());
}

}  // namespace custodian::cli
