#include "run/elect_command.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <memory>
#include <string>
#include <utility>

#include "custodian/leader/leader_latch.hpp"
#include "options/help_formatter.hpp"
#include "options/messages.hpp"
#include "run/run_options.hpp"
#include "run/runner.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

Acquire make_acquire(const RunOptions& options, const Client& client) {
  CandidateOptions candidate;
  candidate.id = options.identity;
  candidate.lease.hold_at_most = options.hold_at_most;
  candidate.on_error = [path = options.path](error_code error) {
    say("cannot stand for election at " + path + " at the moment: " + error.message());
  };
  const auto latch = std::make_shared<LeaderLatch>(client, options.path, std::move(candidate));
  return [latch](Attempt attempt, std::function<void(Outcome)> handler) {
    // A started latch stands for election again by itself.
    if (latch->state() == LeaderLatch::State::latent) latch->start();
    latch->async_wait(asio::bind_cancellation_slot(
        attempt.slot,
        asio::bind_executor(attempt.executor,
                            [handler = std::move(handler)](error_code error, Lease leadership) {
                              Outcome outcome{.error = error};
                              if (leadership) outcome.leases.push_back(std::move(leadership));
                              handler(std::move(outcome));
                            })));
  };
}

}  // namespace

void add_elect_command(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<RunOptions>();
  options->repeat = Repeat::after_loss;
  options->service.is_ready_while_waiting = true;
  options->service.waits = "stands for election at";
  options->service.has = "leads";
  CLI::App* elect = app.add_subcommand(
      "elect", "runs a command while leading, ends it when another may lead, and stands again");
  elect->group(running_group);
  add_path(*elect, *options, "what is led, /leaders/scheduler for one");
  elect
      ->add_option("--id", options->identity,
                   "what others see of this candidate (default: host/process id)")
      ->type_name("ID");
  add_hold_at_most_option(*elect, *options);
  add_on_lost_option(*elect, *options, MayIgnoreLoss::no);
  add_session_options(*elect, *options);
  add_service_option(*elect, *options, "when it stands for election");
  elect
      ->add_option("--http", options->page.listen,
                   "answer /leader there: 200 while this candidate leads, 503 otherwise; and "
                   "/healthz. Beyond this machine it says no more than that, unless there is a "
                   "token")
      ->type_name("ADDRESS:PORT");
  elect
      ->add_option("--http-token-file", options->page.token_file,
                   "a file whose first line is the token that /leader must be shown "
                   "(Authorization: Bearer TOKEN)")
      ->type_name("FILE");
  elect->footer(
      "It ends when the command ends by itself, with its exit status, or by a signal that asks it "
      "to.\n\n" +
      run_footer("custodian elect /leaders/scheduler --id $(hostname) -- ./scheduler"));
  elect->callback([options, &invocation] {
    invocation.takes_command = true;
    invocation.run = [options, &invocation](const GlobalOptions& global) {
      return run_under(global, *options, *invocation.command,
                       [options](const Client& client) { return make_acquire(*options, client); });
    };
  });
}

}  // namespace custodian::cli
