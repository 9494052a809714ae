// A job scheduler: one of several instances of this program leads, and runs the jobs. When it is
// killed, cut off or stopped, another instance takes over, and each job's result is recorded once.
// README.md says how to try it.

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "boot_clock.hpp"
#include "custodian/client.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "pause.hpp"
#include "scheduler.hpp"
#include "sqlite_job_store.hpp"

using namespace std::chrono_literals;

namespace job_scheduler {
namespace {

struct Options {
  std::string servers = "127.0.0.1:2181";
  std::string path = "/examples/job_scheduler";
  std::string database = "jobs.sqlite";
  std::string id{};
  int jobs = 0;
  std::int64_t fencing_epoch = 0;
  bool until_done = false;
  int job_time_ms = 500;
  int session_timeout_ms = 10'000;
  int touch_interval_ms = 1'500;
};

/// Prints "<boot clock's seconds> <id>: <line>", so that `sort` puts the lines of several instances
/// on one machine in order.
class Output {
 public:
  explicit Output(std::string id) : id_{std::move(id)} {}

  void operator()(std::string_view line) const {
    const std::chrono::duration<double> time = boot_time();
    std::ostringstream text;
    text << std::fixed << time.count() << ' ' << id_ << ": " << line << '\n';
    std::cout << text.str() << std::flush;
  }

 private:
  std::string id_;
};

/// Stands for a job that computes something for a while.
std::optional<std::string> compute_square(const Attempt& attempt, std::chrono::milliseconds time,
                                          const std::stop_token& stop) {
  if (!pause(time, stop)) return std::nullopt;
  return std::to_string(attempt.job * attempt.job);
}

std::string why_it_ends(const custodian::Lease& leadership) {
  if (leadership.state() != custodian::LeaseState::lost) return "asked to end";
  return std::string{to_string(leadership.loss_reason())};
}

/// Waits for a signal that asks this process to end or, with `until_done`, until all jobs have a
/// result.
void wait_for_the_end(const sigset_t& signals, JobStore& store, bool until_done) {
  const timespec moment{.tv_sec = 0, .tv_nsec = 200'000'000};
  while (::sigtimedwait(&signals, nullptr, &moment) < 0) {
    if (until_done && store.unfinished() == 0) return;
  }
}

void run(const Options& options, const sigset_t& signals) {
  SqliteJobStore store{options.database};
  store.add_jobs(options.jobs);
  // The leader works on a thread of its own, so it has a connection of its own.
  SqliteJobStore leaders_store{options.database};

  custodian::Client client{custodian::ClientOptions{
      .servers = options.servers,
      .session_timeout = std::chrono::milliseconds{options.session_timeout_ms},
      .touch_interval = std::chrono::milliseconds{options.touch_interval_ms},
      .fencing_epoch = options.fencing_epoch,
      .identity = options.id}};
  const std::string& id = client.identity();
  const Output say{id};
  const std::chrono::milliseconds job_time{options.job_time_ms};
  Scheduler scheduler{leaders_store,
                      [job_time](const Attempt& attempt, const std::stop_token& stop) {
                        return compute_square(attempt, job_time, stop);
                      },
                      say};

  custodian::LeaderSelector selector{
      client,
      options.path,
      [&](const custodian::Lease& leadership, const std::stop_token& stop) {
        try {
          scheduler.lead({.id = id, .token = leadership.token()}, stop);
          say("leads no more: " + why_it_ends(leadership));
        } catch (const std::exception& error) {
          // Another candidate may have more luck with the database. If there is none, the pause
          // keeps this one from leading again at once.
          say(std::string{"leads no more: "} + error.what());
          pause(1s, stop);
        }
      },
      {.requeue = custodian::LeaderSelectorOptions::Requeue::always}};
  selector.start();
  wait_for_the_end(signals, store, options.until_done);
  selector.close();
  selector.join();
  std::ostringstream summary;
  summary << "ends; " << store.unfinished() << " jobs without a result, " << store.refusals()
          << " stale writes refused";
  say(summary.str());
}

}  // namespace
}  // namespace job_scheduler

int main(int argc, char* argv[]) {
  job_scheduler::Options options;
  CLI::App app{
      "Runs jobs, one after another, on one of several instances: start it twice or more with the\n"
      "same --servers, --path and --database, and kill or stop the one that leads."};
  app.add_option("--servers", options.servers, "of ZooKeeper: host:port[,host:port...]")
      ->capture_default_str();
  app.add_option("--path", options.path, "of the election")->capture_default_str();
  app.add_option("--database", options.database, "file with the jobs and their results")
      ->capture_default_str();
  app.add_option("--id", options.id, "of this instance; default: host/process id");
  app.add_option("--jobs", options.jobs, "adds jobs 1 to N that are not there")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--until-done", options.until_done, "ends when each job has a result");
  CLI::AsNumberWithUnit in_milliseconds{
      std::map<std::string, int>{{"ms", 1}, {"s", 1000}, {"m", 60'000}},
      CLI::AsNumberWithUnit::UNIT_REQUIRED};
  in_milliseconds.description("");
  const auto add_duration = [&](const char* name, int& value, const char* usual, const char* what) {
    app.add_option(name, value, what)
        ->transform(in_milliseconds)
        ->type_name("DURATION")
        ->default_str(usual);
  };
  app.add_option(
         "--fencing-epoch", options.fencing_epoch,
         "counts before the tokens: raise it when ZooKeeper was set up anew, and all tokens\n"
         "are refused")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_duration("--job-time", options.job_time_ms, "500ms", "how long a job takes");
  add_duration("--session-timeout", options.session_timeout_ms, "10s",
               "a leader that is gone is replaced after so long");
  add_duration("--touch-interval", options.touch_interval_ms, "1500ms",
               "half the servers' tick, and slack; a third of the session timeout at the most");
  CLI11_PARSE(app, argc, argv);

  // The signals are blocked before any other thread exists, since threads inherit the mask: they
  // stay pending until sigtimedwait() takes one.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    job_scheduler::run(options, signals);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
