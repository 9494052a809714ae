#include "periodic/once_command.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "custodian/authoring/path.hpp"
#include "custodian/periodic/once_per_period.hpp"
#include "options/choice_option.hpp"
#include "options/duration_option.hpp"
#include "options/exit_status.hpp"
#include "options/help_formatter.hpp"
#include "options/messages.hpp"
#include "periodic/once_view.hpp"
#include "queue/looking.hpp"
#include "run/run_options.hpp"
#include "run/runner.hpp"
#include "text/table.hpp"
#include "text/time_text.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

struct OnceChoice {
  RunOptions run{};
  std::optional<std::chrono::nanoseconds> every{};
  AfterFailure on_failure = AfterFailure::skip;
  bool catches_up = false;
  int without_turn = 0;  ///< the exit status
  bool quiet = false;
  bool show = false;
  bool json = false;
};

/// The time limit for writing the end of a run to the servers.
constexpr std::chrono::seconds farewell_limit{10};

PeriodOptions period_options(const OnceChoice& choice) {
  return {.every = std::chrono::ceil<std::chrono::milliseconds>(*choice.every),
          .after_failure = choice.on_failure,
          .identity = choice.run.identity,
          .lease = {.hold_at_most = choice.run.hold_at_most}};
}

std::vector<std::string> environment_of(const OnceChoice& choice, const PeriodRun& run) {
  std::vector<std::string> all{"CUSTODIAN_LOCK_PATH=" + join(choice.run.path, "lock"),
                               "CUSTODIAN_ONCE_DUE=" + iso_time(run.due),
                               "CUSTODIAN_ONCE_ATTEMPT=" + std::to_string(run.attempt)};
  if (choice.catches_up) all.push_back("CUSTODIAN_MISSED_PERIODS=" + std::to_string(run.missed));
  return all;
}

/// Writes the end of the run when its command has ended.
Conclude conclude_with(const std::shared_ptr<Turn>& turn, const std::string& record,
                       const asio::any_io_executor& executor) {
  return [turn, record, executor](std::optional<int> status, std::function<void()> then) {
    const bool is_good = status == 0;
    const RunEnd end = !status ? RunEnd::not_begun()
                               : RunEnd{.state = is_good ? RunState::succeeded : RunState::failed,
                                        .status = status};
    turn->async_end(
        end, {Deadline{farewell_limit}},
        asio::bind_executor(executor, [record, then = std::move(then)](error_code error) {
          if (error) {
            say("the end of the run could not be written into " + record + " (" + error.message() +
                "): it counts as broken off");
          }
          then();
        }));
  };
}

Outcome outcome_of(const OnceChoice& choice, const OncePerPeriod& job, const error_code& error,
                   TurnResult result, const asio::any_io_executor& executor) {
  if (error == Errc::malformed_data) {
    return {.declined = Declined{.status = to_int(ExitStatus::failure),
                                 .message = bad_record_text(job.record_path())}};
  }
  if (error) return {.error = error};
  if (result.reason == NotDue::blocked) return {.blocked_by = std::move(result.blocked_by)};
  if (!result) {
    return {.declined =
                Declined{.status = choice.without_turn,
                         .message = choice.quiet ? "" : no_turn_text(choice.run.path, result)}};
  }
  const auto turn = std::make_shared<Turn>(std::move(result.turn));
  Outcome outcome{.conclude = conclude_with(turn, job.record_path(), executor),
                  .environment = environment_of(choice, turn->run())};
  outcome.leases.push_back(turn->lease().share());
  return outcome;
}

Acquire make_acquire(const OnceChoice& choice, const Client& client) {
  const auto job = std::make_shared<OncePerPeriod>(client, choice.run.path, period_options(choice));
  const RetryPolicy patient = client.retry_policy().unlimited();
  return [job, choice, patient](Attempt attempt, std::function<void(Outcome)> handler) {
    job->async_try_begin(
        {.deadline = attempt.deadline, .retry = patient},
        asio::bind_cancellation_slot(
            attempt.slot,
            asio::bind_executor(attempt.executor, [job, choice, executor = attempt.executor,
                                                   handler = std::move(handler)](
                                                      error_code error, TurnResult result) {
              handler(outcome_of(choice, *job, error, std::move(result), executor));
            })));
  };
}

int show(const GlobalOptions& global, const OnceChoice& choice) {
  const Client client = connect(global);
  // Reading the record needs no period, so any will do.
  const OncePerPeriod job{client, choice.run.path, {.every = std::chrono::hours{1}}};
  std::optional<PeriodRun> last;
  try {
    last = job.last_run();
  } catch (const Error& error) {
    if (error.code() != Errc::malformed_data) throw;
    say(bad_record_text(job.record_path()));
    return to_int(ExitStatus::failure);
  }
  if (choice.json) {
    std::cout << to_line(json_of_job(choice.run.path, last)) << '\n';
  } else if (!last) {
    std::cout << "no run of " << choice.run.path << " has ever begun\n";
  } else {
    for (const std::string& line : aligned(rows_of(*last))) std::cout << line << '\n';
  }
  return to_int(ExitStatus::ok);
}

void add_options(CLI::App& once, OnceChoice& choice) {
  add_path(once, choice.run, "the job, /jobs/report for one: a node of its own");
  add_positive_duration_option(once, "--every", choice.every,
                               "the period, 1d for one: the same for all who use the path");
  add_choice(once, "--on-failure", choice.on_failure,
             {{"skip", AfterFailure::skip}, {"retry", AfterFailure::retry}},
             "what becomes of a period whose run has failed, or was broken off: skip (the next run "
             "is that of the next period), retry (the next call in the period runs again) "
             "(default: skip)");
  once.add_flag("--catch-up", choice.catches_up,
                "the run stands for the periods before it, too, that had no run, or none that "
                "succeeded: CUSTODIAN_MISSED_PERIODS says how many");
  once.add_option("--no-turn-status", choice.without_turn,
                  "the exit status if it is not this host's turn (default: 0)")
      ->check(CLI::Range(0, 255))
      ->type_name("N");
  once.add_flag("--quiet", choice.quiet, "say nothing if it is not this host's turn");
  add_positive_duration_option(once, "--wait", choice.run.wait,
                               "how long to wait for the servers (default: half a period)");
  add_hold_at_most_option(once, choice.run);
  add_identity_option(once, choice.run);
  add_on_lost_option(once, choice.run, MayIgnoreLoss::no);
  add_on_revoke_option(once, choice.run);
  add_session_options(once, choice.run);
  CLI::Option* shows =
      once.add_flag("--show", choice.show, "run nothing: print the last run, of any host");
  once.add_flag("--json", choice.json, "with --show: one line of JSON")->needs(shows);
}

}  // namespace

void add_once_command(CLI::App& app, Invocation& invocation) {
  const auto choice = std::make_shared<OnceChoice>();
  CLI::App* once =
      app.add_subcommand("once", "runs a command at most once per period, on all hosts together");
  once->group(running_group);
  add_options(*once, *choice);
  once->footer(
      "The first call in a period has the turn, whatever the hosts' clocks say: a period is one "
      "of\n"
      "the servers' clock. It begins a tenth of it before the run is due, which is every so long\n"
      "from the first run of all. So hosts may call from cron, all at the same time or nearly so,\n"
      "or every minute.\n\n" +
      run_footer("custodian once /jobs/report --every 1d -- ./report.sh") +
      "\nWithout a turn it is 0, or what --no-turn-status says, and a line says who has run it.\n"
      "The environment also has CUSTODIAN_ONCE_DUE and CUSTODIAN_ONCE_ATTEMPT.");
  once->callback([choice, &invocation] {
    if (choice->show) {
      invocation.run = [choice](const GlobalOptions& global) {
        return with_errors_said([&] { return show(global, *choice); });
      };
      return;
    }
    if (!choice->every) throw CLI::RequiredError("--every");
    if (!choice->run.wait) choice->run.wait = *choice->every / 2;
    choice->run.conclusion = Conclusion::needed;
    invocation.takes_command = true;
    invocation.run = [choice, &invocation](const GlobalOptions& global) {
      return run_under(global, choice->run, *invocation.command,
                       [choice](const Client& client) { return make_acquire(*choice, client); });
    };
  });
}

}  // namespace custodian::cli
