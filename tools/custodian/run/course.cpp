#include "run/course.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace custodian::cli {
namespace {

bool asks_to_end(int signal) {
  switch (signal) {
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGTERM: return true;
    default: return false;
  }
}

}  // namespace

int shell_status(int wait_status) noexcept {
  if (WIFSIGNALED(wait_status)) return signal_base + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

Steps Course::on(const Event& event) {
  if (phase_ == Phase::over) return {};
  return std::visit([this](const auto& happened) { return react(happened); }, event);
}

Steps Course::react(const event::Acquired& /*event*/) {
  // The grant comes too late, since the acquire was given up.
  if (phase_ == Phase::giving_up) return release(status_, std::nullopt);
  phase_ = Phase::running;
  return {step::Start{}};
}

Steps Course::react(const event::NotAcquired& event) {
  return finish(phase_ == Phase::giving_up ? status_ : to_int(event.status));
}

Steps Course::react(const event::Signalled& event) {
  const bool is_running = phase_ == Phase::running;
  switch (event.number) {
    case SIGCONT: return is_running ? Steps{step::Proceed{++proceeds_}} : Steps{};
    case SIGWINCH: return is_running ? Steps{step::PassOn{event.number}} : Steps{};
    // The runner does not stop yet: the command stops first, and the event Stopped reports that.
    case SIGTSTP:
      return {is_running ? Step{step::PassOn{event.number}} : Step{step::StopSelf{event.number}}};
    default: break;
  }
  if (is_running) {
    if (asks_to_end(event.number)) farewell_ = event;
    return {step::PassOn{event.number}};
  }
  if (phase_ == Phase::concluding) {
    return asks_to_end(event.number) ? Steps{step::CutShort{}} : Steps{};
  }
  if (phase_ == Phase::giving_up) return {};
  phase_ = Phase::giving_up;
  status_ = signal_base + event.number;
  return {step::GiveUp{}};
}

Steps Course::react(const event::Lost& /*event*/) const {
  if (phase_ == Phase::concluding) return {step::CutShort{}};
  if (phase_ != Phase::running || on_lost_ == OnLost::ignore) return {};
  return {step::EndForLoss{}};
}

Steps Course::react(const event::NotStarted& event) {
  const bool is_missing = event.error == ENOENT || event.error == ENOTDIR;
  const auto status = is_missing ? ExitStatus::not_found : ExitStatus::not_executable;
  return release(to_int(status), std::nullopt);
}

Steps Course::react(const event::Stopped& event) const {
  // A newer Proceed is on its way to the guardian: the command goes on already, or will at once.
  const bool is_out_of_date = event.proceeded < proceeds_;
  if (phase_ != Phase::running || is_out_of_date) return {};
  return {step::StopSelf{event.signal}};
}

Steps Course::react(const event::Ended& event) {
  if (!event.for_loss) {
    const int status = shell_status(event.wait_status);
    return release(status, status);
  }
  Steps steps{step::Release{}};
  if (repeat_ == Repeat::never) return finish(to_int(ExitStatus::lost), std::move(steps));
  if (farewell_ && event.at - farewell_->at < farewell_time) {
    return finish(signal_base + farewell_->number, std::move(steps));
  }
  farewell_.reset();
  phase_ = Phase::waiting;
  steps.emplace_back(step::Acquire{});
  return steps;
}

Steps Course::react(const event::GuardianGone& /*event*/) {
  if (phase_ == Phase::running) {
    return finish(to_int(ExitStatus::lost), {step::EndOrphans{}, step::Release{}});
  }
  // Nothing runs any more, or not yet.
  if (phase_ == Phase::giving_up || phase_ == Phase::concluding) return {};
  phase_ = Phase::giving_up;
  status_ = to_int(ExitStatus::lost);
  return {step::GiveUp{}};
}

Steps Course::react(const event::Concluded& /*event*/) {
  if (phase_ != Phase::concluding) return {};
  return finish(status_, {step::Release{}});
}

Steps Course::release(int status, std::optional<int> commands_status) {
  if (conclusion_ == Conclusion::none) return finish(status, {step::Release{}});
  phase_ = Phase::concluding;
  status_ = status;
  return {step::Conclude{commands_status}};
}

Steps Course::finish(int status, Steps steps) {
  phase_ = Phase::over;
  steps.emplace_back(step::Finish{status});
  return steps;
}

}  // namespace custodian::cli
