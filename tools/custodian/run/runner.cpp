#include "run/runner.hpp"

#include <unistd.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "custodian/session/session.hpp"
#include "guardian/guardian_link.hpp"
#include "guardian/signal_setting.hpp"
#include "guardian/stops.hpp"
#include "options/messages.hpp"
#include "run/after_command.hpp"
#include "run/course.hpp"
#include "run/hold_reports.hpp"
#include "run/holding.hpp"
#include "run/outcome.hpp"
#include "run/passed_signals.hpp"
#include "run/service_notifier.hpp"
#include "run/waiting_messages.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

/// After this time without a connection, or with processes that the command has left behind, a
/// message says what the runner is waiting for.
constexpr std::chrono::seconds patience{5};

class Runner {
 public:
  Runner(asio::io_context& context, GuardianLink& guardian, const SignalSetting& as_started,
         RunOptions options, std::string command, const ClientOptions& client_options,
         int verbosity, const ServiceManager& manager, const MakeAcquire& make_acquire);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  /// Ends the command before the leases are released.
  ~Runner();

  int run();

 private:
  void on(const Event& event);
  void take(const step::Acquire& step);
  void take(const step::GiveUp& step);
  void take(const step::Start& step);
  void take(const step::PassOn& step);
  void take(const step::Proceed& step);
  void take(const step::StopSelf& step);
  void take(const step::EndForLoss& step);
  void take(const step::EndOrphans& step);
  void take(const step::Conclude& step);
  void take(const step::CutShort& step);
  void take(const step::Release& step);
  void take(const step::Finish& step);

  void on_report(const std::optional<Report>& report);
  void on_outcome(Outcome outcome);
  void on_loss(LossReason reason);
  void on_revoked();
  /// Prints a message, and sends it to the service manager, too.
  void tell(const std::string& message);
  void notify_when_connected();
  void say_when_unconnected();
  void say_what_is_left();
  [[nodiscard]] Attempt attempt(Deadline deadline);
  [[nodiscard]] std::function<void(const std::string&)> follower();
  [[nodiscard]] Deadline deadline() const;
  [[nodiscard]] std::vector<std::string> environment() const;
  [[nodiscard]] std::string what() const { return options_.path; }
  [[nodiscard]] const std::string& node() const {
    return membership_ ? membership_->node : holding_.first().node();
  }

  asio::io_context& context_;
  GuardianLink& guardian_;
  const RunOptions options_;
  const std::string command_;
  const int verbosity_;
  Course course_;
  PassedSignals signals_;
  asio::cancellation_signal give_up_;
  asio::steady_timer notice_;
  AfterCommand after_;
  Client client_;
  ServiceNotifier notifier_;
  Acquire acquire_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  Holding holding_;
  HoldReports reports_;
  std::optional<Membership> membership_;
  std::vector<std::string> more_environment_;
  std::vector<Subscription> revocations_;  ///< kept until the command is asked to end
  bool is_request_said_ = false;
  bool is_loss_told_ = false;
  std::optional<int> status_;
  LeaderPage page_;
};

Runner::Runner(asio::io_context& context, GuardianLink& guardian, const SignalSetting& as_started,
               RunOptions options, std::string command, const ClientOptions& client_options,
               int verbosity, const ServiceManager& manager, const MakeAcquire& make_acquire)
    : context_{context},
      guardian_{guardian},
      options_{std::move(options)},
      command_{std::move(command)},
      verbosity_{verbosity},
      course_{options_.on_lost, options_.repeat,
              options_.hold_at_least ? Conclusion::needed : options_.conclusion},
      signals_{context, as_started, [this](int signal) { on(event::Signalled{signal}); }},
      notice_{context},
      after_{context.get_executor(), options_.hold_at_least},
      client_{client_options},
      notifier_{context, manager},
      acquire_{make_acquire(client_)},
      holding_{context.get_executor(),
               options_.on_lost == OnLost::ignore ? AtMaximum::passes_on : AtMaximum::waits,
               [this](LossReason reason) { on_loss(reason); }},
      reports_{context, guardian, client_, holding_, options_, client_options.session_timeout},
      page_{context, options_.page, [this] { return leading_of(what(), client_, holding_); }} {}

Runner::~Runner() { guardian_.end(); }

int Runner::run() {
  signals_.listen();
  guardian_.listen([this](const std::optional<Report>& report) { on_report(report); });
  notifier_.begin_beats(client_.get_executor());
  say_when_unconnected();
  take(step::Acquire{});
  while (!status_) context_.run_one();
  client_.close();
  return *status_;
}

void Runner::on(const Event& event) {
  for (const Step& step : course_.on(event)) {
    std::visit([this](const auto& wanted) { take(wanted); }, step);
  }
}

// -- Steps ----------------------------------------------------------------------------------------

void Runner::take(const step::Acquire& /*step*/) {
  notifier_.starts(options_.service.waits + " " + what());
  if (options_.service.is_ready_while_waiting) notify_when_connected();
  if (options_.wait != std::chrono::nanoseconds::zero()) {
    acquire_(attempt(deadline()), [this](Outcome outcome) { on_outcome(std::move(outcome)); });
    return;
  }
  // Only a connected client can find out whether the lock is free, so the runner connects first.
  client_.async_wait_connected(
      OperationOptions{},
      asio::bind_cancellation_slot(
          give_up_.slot(), asio::bind_executor(context_.get_executor(), [this](error_code error) {
            if (error) return on_outcome({.error = error});
            acquire_(attempt(std::chrono::seconds{0}),
                     [this](Outcome outcome) { on_outcome(std::move(outcome)); });
          })));
}

void Runner::take(const step::GiveUp& /*step*/) {
  notifier_.stops();
  give_up_.emit(asio::cancellation_type::terminal);
}

void Runner::take(const step::Start& /*step*/) {
  is_loss_told_ = holding_.lost_reason() != LossReason::none;
  if (is_loss_told_) {
    say(what() + " was lost before the command could be run");
    return on(event::Ended{.for_loss = true});
  }
  guardian_.send(reports_.order(Order::Kind::start), environment());
  reports_.begin();
  notifier_.ready(options_.service.has + " " + what() + ", as " + node());
  if (verbosity_ > 0) say("running " + command_ + " under " + node());
}

void Runner::take(const step::PassOn& step) {
  guardian_.send({.kind = Order::Kind::signal, .signal = step.signal});
}

void Runner::take(const step::Proceed& step) {
  // This process may have been stopped, so that it has not noticed the loss yet.
  const LossReason reason = holding_.lost_reason();
  if (reason != LossReason::none) on_loss(reason);
  guardian_.send({.kind = Order::Kind::proceed, .number = step.number});
}

void Runner::take(const step::StopSelf& step) {
  signals_.stop_self(step.signal);
  on(event::Signalled{SIGCONT});
}

void Runner::take(const step::EndForLoss& /*step*/) {
  guardian_.send(reports_.order(Order::Kind::lost));
}

void Runner::take(const step::EndOrphans& /*step*/) { guardian_.end_orphans(); }

void Runner::take(const step::Conclude& step) {
  reports_.end();
  notice_.cancel();
  after_.begin(step.status, [this] { on(event::Concluded{}); });
  const bool is_told = verbosity_ > 0 && after_.holds_on();
  if (is_told) say("the command has ended: " + what() + " is held on (--hold-at-least)");
}

void Runner::take(const step::CutShort& /*step*/) { after_.cut_short(); }

void Runner::take(const step::Release& /*step*/) {
  reports_.end();
  notice_.cancel();
  after_.forget();
  revocations_.clear();
  holding_.end();
}

void Runner::take(const step::Finish& step) {
  notifier_.stops();
  status_ = step.status;
}

// -- Events ---------------------------------------------------------------------------------------

void Runner::on_report(const std::optional<Report>& report) {
  if (!report) {
    // The reaction comes before the message: writing may block if nobody reads the message.
    on(event::GuardianGone{});
    return say("the guardian process was killed: nothing is run, and what ran is ended");
  }
  switch (report->kind) {
    case Report::Kind::not_started:
      say("cannot run " + command_ + ": " + std::strerror(report->value));
      return on(event::NotStarted{report->value});
    case Report::Kind::stopped:
      return on(event::Stopped{.signal = report->value, .proceeded = report->proceeded});
    case Report::Kind::main_ended: return say_what_is_left();
    case Report::Kind::forbidden:
      return say("what runs belongs to another user, and cannot be signalled or ended: " + what() +
                 " is held until it ends by itself, or is lost (run custodian as that user)");
    case Report::Kind::ended:
      if (report->for_loss && !is_loss_told_) on_loss(LossReason::lease_expired);
      return on(event::Ended{report->value, report->for_loss});
  }
}

void Runner::on_outcome(Outcome outcome) {
  if (outcome.declined) {
    if (!outcome.declined->message.empty()) say(outcome.declined->message);
    return on(event::NotAcquired{static_cast<ExitStatus>(outcome.declined->status)});
  }
  membership_ = std::move(outcome.membership);
  more_environment_ = std::move(outcome.environment);
  after_.note_granted(std::move(outcome.conclude));
  if (outcome.leases.empty() && !membership_) {
    if (outcome.error != asio::error::operation_aborted) {
      say(refusal(what(), outcome.error, outcome.blocked_by));
    }
    return on(event::NotAcquired{status_of(outcome.error)});
  }
  notice_.cancel();
  is_loss_told_ = false;
  // The runner subscribes even if it ignores requests: only if a holder listens does the library
  // write its identity back into its node. Capturing `this` is safe: no thread runs the context
  // once the runner is destroyed.
  const auto asked = [this, &context = context_] { asio::post(context, [this] { on_revoked(); }); };
  for (const Lease& lease : outcome.leases) revocations_.push_back(lease.make_revocable(asked));
  holding_.begin(std::move(outcome.leases));
  on(event::Acquired{});
}

void Runner::on_loss(LossReason reason) {
  if (std::exchange(is_loss_told_, true)) return;
  // The reaction comes before the message: writing may block if nobody reads the message.
  on(event::Lost{});
  tell(what() + " is lost (" + std::string{to_string(reason)} + "): " +
       (after_.has_begun()                   ? "the command has ended before"
        : options_.on_lost == OnLost::ignore ? "the command goes on (--on-lost ignore)"
                                             : "the command is ended"));
}

void Runner::on_revoked() {
  // The list is empty once the command was asked to end, or the release has begun. Each permit
  // reports the request, so more reports may arrive.
  if (revocations_.empty()) return;
  if (options_.on_revoke == OnRevoke::ignore) {
    if (!std::exchange(is_request_said_, true)) {
      tell("somebody asks for " + what() +
           (after_.has_begun() ? ": it is held on (--hold-at-least)" : ": the command goes on"));
    }
    return;
  }
  revocations_.clear();
  tell("somebody asks for " + what() + ": the command is asked to end (--on-revoke terminate)");
  on(event::Signalled{SIGTERM});
}

// -- Clean-up and helpers -------------------------------------------------------------------------

void Runner::tell(const std::string& message) {
  say(message);
  notifier_.status(message);
}

void Runner::notify_when_connected() {
  client_.async_wait_connected(
      {.deadline = Deadline::never()},
      asio::bind_executor(context_.get_executor(), [this](error_code error) {
        if (!error && holding_.is_empty()) {
          notifier_.ready(options_.service.waits + " " + what());
        }
      }));
}

void Runner::say_when_unconnected() {
  notice_.expires_after(patience);
  notice_.async_wait([this](boost::system::error_code error) {
    if (error || is_connected(client_.connection_state())) return;
    tell("no server has answered yet; still trying");
  });
}

void Runner::say_what_is_left() {
  notice_.expires_after(patience);
  notice_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    tell(left_behind(what(), guardian_.processes()));
  });
}

Attempt Runner::attempt(Deadline deadline) {
  return {.deadline = deadline,
          .options = with_messages(verbosity_, follower()),
          .slot = give_up_.slot(),
          .executor = context_.get_executor()};
}

/// The returned function is called on a thread of the client.
std::function<void(const std::string&)> Runner::follower() {
  if (!notifier_.is_active()) return nullptr;
  return [this, &context = context_](const std::string& position) {
    asio::post(context, [this, position] {
      if (!holding_.is_empty()) return;
      notifier_.status(options_.service.waits + " " + what() + ": " + position);
    });
  };
}

Deadline Runner::deadline() const {
  if (!options_.wait) return Deadline::never();
  return Deadline{began_ + *options_.wait};
}

std::vector<std::string> Runner::environment() const {
  if (membership_) return membership_->environment;
  std::vector<std::string> all = environment_of(options_.path, holding_.first());
  all.insert(all.end(), more_environment_.begin(), more_environment_.end());
  return all;
}

}  // namespace

int run_under(const GlobalOptions& global, const RunOptions& options,
              std::vector<std::string> command, const MakeAcquire& make_acquire) {
  ClientOptions client_options = global.client_options();
  if (!options.identity.empty()) client_options.identity = options.identity;
  client_options.touch_interval = options.touch_interval;
  client_options.acl_provider = acl_provider(options.acl, !client_options.credentials.empty());
  validate(client_options);
  const ServiceManager manager =
      options.service.notifies ? take_service_manager(::getpid()) : ServiceManager{};
  const std::string name = command.front();
  const SignalSetting as_started = SignalSetting::current();
  // Neither the command nor a process that it leaves behind may use the credentials.
  forget_credentials();
  asio::io_context context;
  GuardianLink guardian{context, std::move(command), as_started};
  // A closed pipe at the standard error output must not end the process that holds the lock.
  std::signal(SIGPIPE, SIG_IGN);
  defer_stops();
  Runner runner{context,        guardian,         as_started, options,     name,
                client_options, global.verbosity, manager,    make_acquire};
  return runner.run();
}

}  // namespace custodian::cli
