#pragma once

/// \file
/// Timekeeper implements a FakeClock: the time, the clients' alarms, the servers with timed work,
/// and the question whether clients still react.
///
/// Threads: any. The Timekeeper's mutex and a server's are never held at the same time: with its
/// own mutex held, a server calls only now() and note_activity(), which lock nothing.

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "custodian/clock.hpp"

namespace custodian::testing {

/// Servers for which time passes.
class TimedServers {
 public:
  using Time = BootClock::time_point;

  virtual ~TimedServers() = default;
  [[nodiscard]] virtual std::optional<Time> next_due() const = 0;
  /// Does everything that is due at `now`, in order.
  virtual void run_due(Time now) = 0;
};

class Timekeeper : public std::enable_shared_from_this<Timekeeper> {
 public:
  using Time = BootClock::time_point;
  using Duration = BootClock::duration;

  explicit Timekeeper(std::chrono::milliseconds patience) : patience_{patience} {}

  [[nodiscard]] Time now() const noexcept { return now_; }
  /// Reports that a message was sent to a client or a server, so that settling goes on.
  void note_activity() noexcept { ++activity_; }
  void add(std::weak_ptr<TimedServers> servers);
  [[nodiscard]] std::unique_ptr<Clock::Alarm> make_alarm(Clock::Executors executors,
                                                         std::function<void()> ring);

  /// Implements FakeClock's advance; with a null context other threads run the clients.
  void advance(Duration time, boost::asio::io_context* context);
  void jump(Duration time);

 private:
  class FakeAlarm;
  /// A client's alarm, and whether the client reacts.
  struct Bell {
    /// Empty when the alarm has been destroyed: the context may be gone then.
    Clock::Executors executors;
    std::function<void()> ring;
    std::optional<Time> due{};
    boost::asio::any_io_executor work{};  ///< keeps the context running until the alarm has rung
    bool is_asked = false;    ///< the client was asked whether it reacts, and has not answered
    bool is_stopped = false;  ///< the client did not answer in time
  };
  using BellPtr = std::shared_ptr<Bell>;

  void set(const BellPtr& bell, std::optional<Time> due);
  void remove(const BellPtr& bell);

  [[nodiscard]] std::vector<std::shared_ptr<TimedServers>> servers() const;
  [[nodiscard]] std::optional<Time> next_due() const;
  /// Moves the clock to this time, unless the clock is past this time already.
  void move_to(Time time) noexcept;
  void move_by_steps(Time end, boost::asio::io_context* context);
  /// Rings the alarms that are due. Returns whether there were any.
  bool ring_due(Time now);
  void settle(boost::asio::io_context* context);
  void ask();
  void pass_question_on(const std::weak_ptr<Bell>& bell);
  void answer(const std::weak_ptr<Bell>& bell);
  using Patience = std::chrono::steady_clock::time_point;
  /// False if a client has not answered in time.
  bool wait_for_answers(boost::asio::io_context* context, Patience until);
  /// Called with the mutex held.
  void ring(const BellPtr& bell);
  [[nodiscard]] bool is_answered() const;

  const std::chrono::milliseconds patience_;
  /// The clock does not begin at zero, which means "no time" to a client.
  std::atomic<Time> now_ = Time{std::chrono::hours{24}};
  std::atomic<std::uint64_t> activity_ = 0;

  std::mutex advancing_;  ///< held during advance(): one at a time
  std::atomic<std::thread::id> advances_;

  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable answered_;
  std::vector<BellPtr> bells_;
  std::vector<std::weak_ptr<TimedServers>> servers_;
};

}  // namespace custodian::testing
