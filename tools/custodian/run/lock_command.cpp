#include "run/lock_command.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <memory>
#include <string>
#include <utility>

#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "options/choice_option.hpp"
#include "options/help_formatter.hpp"
#include "options/usage_error.hpp"
#include "run/outcome.hpp"
#include "run/run_options.hpp"
#include "run/runner.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

enum class Kind { mutex, read, write, semaphore_mutex };

struct LockChoice {
  RunOptions run{};
  Kind kind = Kind::mutex;
  NamingProfile profile = NamingProfile::curator;
};

/// Returns a function that acquires the lock. `owner` keeps the lock alive.
template <typename Lock>
Acquire acquire_from(std::shared_ptr<void> owner, Lock& lock) {
  return [owner = std::move(owner), &lock](Attempt attempt, std::function<void(Outcome)> handler) {
    lock.async_try_acquire_until(
        attempt.deadline, std::move(attempt.options),
        asio::bind_cancellation_slot(
            attempt.slot,
            asio::bind_executor(attempt.executor, [handler = std::move(handler)](
                                                      error_code error, AcquireResult result) {
              Outcome outcome{.error = error ? error : error_of(result.reason),
                              .blocked_by = std::move(result.blocked_by)};
              if (result) outcome.leases.push_back(std::move(result.lease));
              handler(std::move(outcome));
            })));
  };
}

Acquire make_acquire(const LockChoice& choice, const Client& client) {
  LockOptions options;
  options.lease.hold_at_most = choice.run.hold_at_most;
  options.profile = choice.profile;
  const std::string& path = choice.run.path;
  switch (choice.kind) {
    case Kind::mutex: {
      const auto lock = std::make_shared<InterProcessMutex>(client, path, options);
      return acquire_from(lock, *lock);
    }
    case Kind::read: {
      const auto lock = std::make_shared<InterProcessReadWriteLock>(client, path, options);
      return acquire_from(lock, lock->read());
    }
    case Kind::write: {
      const auto lock = std::make_shared<InterProcessReadWriteLock>(client, path, options);
      return acquire_from(lock, lock->write());
    }
    case Kind::semaphore_mutex: {
      const auto lock = std::make_shared<InterProcessSemaphoreMutex>(client, path, options);
      return acquire_from(lock, *lock);
    }
  }
  throw UsageError{"there is no such kind of lock"};
}

}  // namespace

void add_lock_command(CLI::App& app, Invocation& invocation) {
  const auto choice = std::make_shared<LockChoice>();
  CLI::App* lock = app.add_subcommand("lock", "runs a command while holding a lock");
  lock->group(running_group);
  add_path(*lock, choice->run, "the lock, /locks/backup for one");
  add_wait_options(*lock, choice->run);
  add_choice(*lock, "--kind", choice->kind,
             {{"mutex", Kind::mutex},
              {"read", Kind::read},
              {"write", Kind::write},
              {"semaphore-mutex", Kind::semaphore_mutex}},
             "what the lock is, the same for all who use the path: mutex, read or write (the sides "
             "of a read/write lock), semaphore-mutex (default: mutex)");
  add_choice(*lock, "--profile", choice->profile,
             {{"curator", NamingProfile::curator}, {"kazoo", NamingProfile::kazoo}},
             "whose names its nodes bear: curator's or kazoo's (default: curator)");
  add_hold_at_most_option(*lock, choice->run);
  add_hold_at_least_option(*lock, choice->run);
  add_identity_option(*lock, choice->run);
  add_on_lost_option(*lock, choice->run, MayIgnoreLoss::yes);
  add_on_revoke_option(*lock, choice->run);
  add_session_options(*lock, choice->run);
  add_service_option(*lock, choice->run, "when it holds the lock");
  lock->footer(run_footer("custodian lock /locks/backup --wait 5m -- ./backup.sh --full"));
  lock->callback([choice, &invocation] {
    check_hold_times(choice->run);
    invocation.takes_command = true;
    invocation.run = [choice, &invocation](const GlobalOptions& global) {
      return run_under(global, choice->run, *invocation.command,
                       [choice](const Client& client) { return make_acquire(*choice, client); });
    };
  });
}

}  // namespace custodian::cli
