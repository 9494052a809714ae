#include "run/semaphore_command.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "custodian/semaphores/inter_process_semaphore.hpp"
#include "options/help_formatter.hpp"
#include "options/usage_error.hpp"
#include "run/outcome.hpp"
#include "run/run_options.hpp"
#include "run/runner.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

struct SemaphoreChoice {
  RunOptions run{};
  int permits = 0;
  int take = 1;
};

Acquire make_acquire(const SemaphoreChoice& choice, const Client& client) {
  LockOptions options;
  options.lease.hold_at_most = choice.run.hold_at_most;
  const auto semaphore =
      std::make_shared<InterProcessSemaphore>(client, choice.run.path, choice.permits, options);
  return [semaphore, take = choice.take](Attempt attempt, std::function<void(Outcome)> handler) {
    semaphore->async_try_acquire_until(
        take, attempt.deadline, std::move(attempt.options),
        asio::bind_cancellation_slot(
            attempt.slot,
            asio::bind_executor(attempt.executor, [handler = std::move(handler)](
                                                      error_code error, PermitsResult result) {
              handler({.error = error ? error : error_of(result.reason),
                       .leases = std::move(result.permits),
                       .blocked_by = std::move(result.blocked_by)});
            })));
  };
}

}  // namespace

void add_semaphore_command(CLI::App& app, Invocation& invocation) {
  const auto choice = std::make_shared<SemaphoreChoice>();
  CLI::App* semaphore =
      app.add_subcommand("semaphore", "runs a command while holding permits of a semaphore");
  semaphore->group(running_group);
  add_path(*semaphore, choice->run, "the semaphore, /licences/solver for one");
  semaphore
      ->add_option("--permits", choice->permits,
                   "how many there are, the same number for all who use the path")
      ->required()
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->type_name("N");
  semaphore
      ->add_option("--take", choice->take, "how many of them to take, all or none (default: 1)")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->type_name("K");
  add_wait_options(*semaphore, choice->run);
  add_hold_at_most_option(*semaphore, choice->run);
  add_hold_at_least_option(*semaphore, choice->run);
  add_identity_option(*semaphore, choice->run);
  add_on_lost_option(*semaphore, choice->run, MayIgnoreLoss::yes);
  add_on_revoke_option(*semaphore, choice->run);
  add_session_options(*semaphore, choice->run);
  add_service_option(*semaphore, choice->run, "when it holds the permits");
  semaphore->footer(
      run_footer("custodian semaphore /licences/solver --permits 5 -- ./solve model.lp"));
  semaphore->callback([choice, &invocation] {
    if (choice->take > choice->permits) {
      throw CLI::ValidationError{"--take", "there are not so many permits"};
    }
    check_hold_times(choice->run);
    invocation.takes_command = true;
    invocation.run = [choice, &invocation](const GlobalOptions& global) {
      return run_under(global, choice->run, *invocation.command,
                       [choice](const Client& client) { return make_acquire(*choice, client); });
    };
  });
}

}  // namespace custodian::cli
