#pragma once

/// \file
/// ServiceNotifier notifies systemd of what the runner does (--notify-systemd): sd_notify(3), a
/// datagram for each change. Without a service manager it does nothing, so that a unit's command
/// line can be tried in a shell.

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace custodian::cli {

/// What a service manager has put into the environment of its service.
struct ServiceManager {
  std::string socket{};  ///< NOTIFY_SOCKET: a path, or "@name"; empty if there is no manager
  /// WATCHDOG_USEC: the manager expects a beat of this process within this time. Nothing if it does
  /// not watch this process.
  std::optional<std::chrono::microseconds> watchdog{};

  friend bool operator==(const ServiceManager&, const ServiceManager&) = default;
};

/// Reads the variables, and takes them out of the environment: the command must not speak for the
/// service. WATCHDOG_PID names the process that is meant; `self` is this one. To be called before
/// this process has any thread. Throws UsageError if a variable is wrong.
[[nodiscard]] ServiceManager take_service_manager(pid_t self);

/// The news that were not sent to the manager yet.
struct News {
  bool ready = false;
  bool stopping = false;
  bool alive = false;
  std::optional<std::string> status{};
  /// Extends the time limit of the start by this much; another extension follows before that.
  std::optional<std::chrono::microseconds> patience{};

  [[nodiscard]] bool is_empty() const {
    return !ready && !stopping && !alive && !status && !patience;
  }
};

/// The datagram: a line for each piece of news.
[[nodiscard]] std::string to_notification(const News& news);

/// Threads: the context's, one at a time; the context must not run once this object is destroyed.
/// Sends one datagram after the other, and never blocks: while the manager does not read, later
/// news are merged into one datagram.
class ServiceNotifier {
 public:
  /// Throws UsageError if the socket's name cannot be an address.
  ServiceNotifier(boost::asio::io_context& context, const ServiceManager& manager);
  ServiceNotifier(const ServiceNotifier&) = delete;
  ServiceNotifier& operator=(const ServiceNotifier&) = delete;
  ~ServiceNotifier() = default;

  /// Whether there is a manager.
  [[nodiscard]] bool is_active() const noexcept { return socket_.has_value(); }

  /// Reports that the service waits. Until ready() or stops() the manager is asked to go on
  /// waiting, beyond the unit's TimeoutStartSec.
  void starts(std::string_view status);
  /// Reports that the service is ready; a second call changes the status only.
  void ready(std::string_view status);
  void status(std::string_view status);
  void stops();
  /// If the manager has a watchdog, sends it a beat again and again, as long as both the context
  /// and `other` run their handlers. The executor `other` must outlive this object.
  void begin_beats(boost::asio::any_io_executor other);

 private:
  void extend();
  void beat();
  void send();
  void say_failure(const boost::system::error_code& error);

  boost::asio::io_context& context_;
  std::optional<boost::asio::local::datagram_protocol::socket> socket_;
  std::optional<std::chrono::microseconds> watchdog_;
  boost::asio::any_io_executor other_;  ///< see begin_beats()
  boost::asio::steady_timer extension_;
  boost::asio::steady_timer next_beat_;
  News news_;
  std::string sending_;  ///< the datagram under way; empty if there is none
  bool is_ready_ = false;
  bool is_stopping_ = false;
  bool is_failure_said_ = false;
};

}  // namespace custodian::cli
