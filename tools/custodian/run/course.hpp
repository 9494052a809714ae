#pragma once

/// \file
/// Course decides what the runner of a command under a lock does next. Pure: events in, steps out.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "options/exit_status.hpp"

namespace custodian::cli {

/// What happens to the command when the lock is lost.
enum class OnLost : std::uint8_t {
  terminate,  ///< asked to end, and killed if it has not ended within grace_after_loss()
  kill,       ///< killed
  ignore,     ///< runs on
};

/// Says whether the command is run again.
enum class Repeat : std::uint8_t {
  never,
  after_loss,  ///< acquires again after a loss, unless a signal has just asked the command to end
};

/// Says whether there is something to do between the end of the command and the release.
enum class Conclusion : std::uint8_t {
  none,
  needed,  ///< a step Conclude comes before the release
};

/// A command that still runs this long after a signal did not take the signal as a request to end:
/// a SIGHUP, for example, may have made it read its configuration again.
inline constexpr std::chrono::seconds farewell_time{30};

namespace event {
using Time = std::chrono::steady_clock::time_point;

struct Acquired {};
/// The acquire has ended without a lease, and leaves no node.
struct NotAcquired {
  ExitStatus status{};
};
struct Signalled {
  int number = 0;
  Time at = Time::clock::now();
};
struct Lost {};
struct NotStarted {
  int error = 0;  ///< errno
};
/// The command was stopped, by SIGTSTP or by one of the terminal's signals for background
/// processes.
struct Stopped {
  int signal = 0;
  /// The number of the last Proceed that the command had received before it stopped.
  std::uint64_t proceeded = 0;
};
/// The command has ended, with all the processes that it has started.
struct Ended {
  int wait_status = 0;
  bool for_loss = false;
  Time at = Time::clock::now();
};
struct GuardianGone {};
/// The work that the step Conclude began is done.
struct Concluded {};
}  // namespace event

using Event = std::variant<event::Acquired, event::NotAcquired, event::Signalled, event::Lost,
                           event::NotStarted, event::Stopped, event::Ended, event::GuardianGone,
                           event::Concluded>;

namespace step {
struct Acquire {
  friend bool operator==(const Acquire&, const Acquire&) = default;
};
/// Cancels the acquire. NotAcquired follows, or Acquired if the grant came first.
struct GiveUp {
  friend bool operator==(const GiveUp&, const GiveUp&) = default;
};
struct Start {
  friend bool operator==(const Start&, const Start&) = default;
};
struct PassOn {
  int signal = 0;
  friend bool operator==(const PassOn&, const PassOn&) = default;
};
/// Continues the command, unless the lock was lost in the meantime.
struct Proceed {
  std::uint64_t number = 0;  ///< 1 for the first one
  friend bool operator==(const Proceed&, const Proceed&) = default;
};
/// Stops this process by the same signal as the command, so that its parent (a shell, another
/// custodian) sees why. SIGCONT continues it.
struct StopSelf {
  int signal = 0;
  friend bool operator==(const StopSelf&, const StopSelf&) = default;
};
struct EndForLoss {
  friend bool operator==(const EndForLoss&, const EndForLoss&) = default;
};
/// Kills the processes that a killed guardian has left behind.
struct EndOrphans {
  friend bool operator==(const EndOrphans&, const EndOrphans&) = default;
};
/// Does the work that comes before the release. Concluded follows.
struct Conclude {
  /// The command's exit status; nothing if it did not begin.
  std::optional<int> status{};
  friend bool operator==(const Conclude&, const Conclude&) = default;
};
/// Ends the wait for the minimum time (--hold-at-least), if Conclude began one.
struct CutShort {
  friend bool operator==(const CutShort&, const CutShort&) = default;
};
struct Release {
  friend bool operator==(const Release&, const Release&) = default;
};
struct Finish {
  int status = 0;
  friend bool operator==(const Finish&, const Finish&) = default;
};
}  // namespace step

using Step = std::variant<step::Acquire, step::GiveUp, step::Start, step::PassOn, step::Proceed,
                          step::StopSelf, step::EndForLoss, step::EndOrphans, step::Conclude,
                          step::CutShort, step::Release, step::Finish>;
using Steps = std::vector<Step>;

class Course {
 public:
  Course(OnLost on_lost, Repeat repeat, Conclusion conclusion = Conclusion::none)
      : on_lost_{on_lost}, repeat_{repeat}, conclusion_{conclusion} {}

  /// Returns the steps that an event requires. The step Acquire begins the course, before any
  /// event.
  [[nodiscard]] Steps on(const Event& event);

 private:
  enum class Phase : std::uint8_t { waiting, giving_up, running, concluding, over };

  Steps react(const event::Acquired& event);
  Steps react(const event::NotAcquired& event);
  Steps react(const event::Signalled& event);
  Steps react(const event::Lost& event) const;
  Steps react(const event::NotStarted& event);
  Steps react(const event::Stopped& event) const;
  Steps react(const event::Ended& event);
  Steps react(const event::GuardianGone& event);
  Steps react(const event::Concluded& event);
  /// Releases the lock, and finishes with `status`; takes the step Conclude before, if needed.
  Steps release(int status, std::optional<int> commands_status);
  Steps finish(int status, Steps steps = {});

  OnLost on_lost_;
  Repeat repeat_;
  Conclusion conclusion_;
  Phase phase_ = Phase::waiting;
  /// The number of the last Proceed.
  std::uint64_t proceeds_ = 0;
  /// The exit status once the acquire was given up, or the command has ended.
  int status_ = 0;
  /// The last signal during the command's run that asked it to end.
  std::optional<event::Signalled> farewell_;
};

/// The exit status that a shell would give for this wait status.
[[nodiscard]] int shell_status(int wait_status) noexcept;

}  // namespace custodian::cli
