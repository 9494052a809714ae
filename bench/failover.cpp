// custodian-failover measures how long a lock stays held after its holder was killed, and how long
// servers may be silent before a holder loses its lock. docs/fast-failover.md has its figures.

#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "child_process/child_process.hpp"
#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "custodian/testing/testing_server.hpp"
#include "options/duration_option.hpp"
#include "statistics.hpp"
#include "text/duration.hpp"

namespace {

using namespace custodian;
using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr auto path = "/failover";

struct Setting {
  milliseconds session_timeout;
  milliseconds touch_interval;
  milliseconds tick;
};

/// The measured settings: ZooKeeper's default tick with Custodian's default session timeout and
/// with the shortest one; then shorter ticks, each with a touch interval of three quarters of the
/// tick.
std::vector<Setting> usual_settings() {
  return {{10'000ms, 1'500ms, 2'000ms},
          {4'500ms, 1'500ms, 2'000ms},
          {2'000ms, 375ms, 500ms},
          {1'125ms, 375ms, 500ms},
          {600ms, 188ms, 250ms}};
}

struct Options {
  int runs = 9;
  bool ensemble = false;
  Setting setting{0ms, 1'500ms, 2'000ms};
};

/// One server, or three that elect a leader. ZooKeeper limits session timeouts to between two and
/// twenty ticks.
class Servers {
 public:
  Servers(bool ensemble, milliseconds tick) {
    testing::TestingServerOptions options;
    options.tick_time = tick;
    options.min_session_timeout = 2 * tick;
    options.max_session_timeout = 20 * tick;
    if (ensemble) {
      cluster_ = std::make_unique<testing::TestingCluster>(
          testing::TestingClusterOptions{.server = options});
    } else {
      server_ = std::make_unique<testing::TestingServer>(options);
    }
  }
  [[nodiscard]] std::string connect_string() const {
    return server_ ? server_->connect_string() : cluster_->connect_string();
  }
  /// Suspends all servers, as a pause of their virtual machines would.
  void pause() {
    if (server_) server_->pause();
    for_each_member([&](std::size_t member) { cluster_->pause(member); });
  }
  void resume() {
    if (server_) server_->resume();
    for_each_member([&](std::size_t member) { cluster_->resume(member); });
    if (cluster_) cluster_->wait_until_serving();
  }

 private:
  void for_each_member(const std::function<void(std::size_t)>& visit) const {
    for (std::size_t i = 0; cluster_ && i < cluster_->size(); ++i) visit(i);
  }

  std::unique_ptr<testing::TestingServer> server_;
  std::unique_ptr<testing::TestingCluster> cluster_;
};

ClientOptions client_options(const std::string& servers, const Setting& setting) {
  return {.servers = servers,
          .session_timeout = setting.session_timeout,
          .touch_interval = setting.touch_interval};
}

/// Waits for a random time, so that each measurement starts at a different moment between two
/// beats.
void let_some_time_pass(const Setting& setting) {
  static std::mt19937 random{std::random_device{}()};
  const auto span = setting.session_timeout / 6 + setting.tick;
  std::uniform_int_distribution<milliseconds::rep> part{0, span.count()};
  std::this_thread::sleep_for(setting.session_timeout / 3 + milliseconds{part(random)});
}

/// The time limit of a measurement, long enough for every setting.
milliseconds limit(const Setting& setting) { return 4 * setting.session_timeout + 30s; }

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

template <typename Result>
Result get_in_time(std::future<Result> future, const Setting& setting, const char* what) {
  if (future.wait_for(limit(setting)) != std::future_status::ready) {
    throw std::runtime_error{std::string{what} + ": not after " +
                             cli::format_duration(limit(setting))};
  }
  return future.get();
}

/// The holder's process: acquires the lock, prints a line, and holds it until it is killed.
int hold(const std::string& servers, const Setting& setting) {
  const Client client{client_options(servers, setting)};
  InterProcessMutex mutex{client, path};
  const Lease lease = mutex.acquire();
  std::cout << "holds\n" << std::flush;
  std::cin.get();
  return 0;
}

/// Measures the time from the kill of a holder to the next lease, in seconds.
double time_a_kill(const std::string& program, const std::string& servers, const Setting& setting) {
  testing::ChildProcess holder{
      program,
      {"--holder", servers, "--session-timeout", cli::format_duration(setting.session_timeout),
       "--touch-interval", cli::format_duration(setting.touch_interval)}};
  if (holder.listen() != std::vector<std::string>{"holds"}) {
    throw std::runtime_error{"the holder: " + holder.how_it_ended()};
  }
  Client client{client_options(servers, setting)};
  InterProcessMutex mutex{client, path};
  auto next = mutex.async_acquire(boost::asio::use_future);
  while (mutex.queue_length() < 2) std::this_thread::sleep_for(10ms);
  let_some_time_pass(setting);
  const auto killed = Clock::now();
  holder.kill();
  const Lease lease = get_in_time(std::move(next), setting, "the next lease");
  return seconds_since(killed);
}

/// Measures the time from the moment at which the servers fall silent to the loss of a lease, in
/// seconds.
double time_a_silence(Servers& servers, const Setting& setting) {
  Client client{client_options(servers.connect_string(), setting)};
  InterProcessMutex mutex{client, path};
  const Lease lease = mutex.acquire();
  let_some_time_pass(setting);
  auto lost = lease.async_wait_lost(boost::asio::use_future);
  const auto paused = Clock::now();
  servers.pause();
  get_in_time(std::move(lost), setting, "the loss");
  const double result = seconds_since(paused);
  servers.resume();
  return result;
}

std::string spread(const std::vector<double>& seconds) {
  const auto spread = bench::spread_of(seconds);
  char text[64];
  std::snprintf(text, sizeof text, "%.2f s (%.2f to %.2f)", spread->median, spread->min,
                spread->max);
  return text;
}

void measure(const std::string& program, const Setting& setting, const Options& options) {
  Servers servers{options.ensemble, setting.tick};
  std::vector<double> kills;
  std::vector<double> silences;
  for (int run = 0; run < options.runs; ++run) {
    kills.push_back(time_a_kill(program, servers.connect_string(), setting));
    silences.push_back(time_a_silence(servers, setting));
  }
  std::cout << "| " << cli::format_duration(setting.session_timeout) << " | "
            << cli::format_duration(setting.touch_interval) << " | "
            << cli::format_duration(setting.tick) << " | " << spread(kills) << " | "
            << spread(silences) << " |\n"
            << std::flush;
}

void measure_all(const std::string& program, const Options& options) {
  utsname machine{};
  ::uname(&machine);
  std::cout << "Median of " << options.runs << " runs (least to most), "
            << (options.ensemble ? "three servers" : "one server") << "; Linux " << machine.release
            << ", " << std::thread::hardware_concurrency() << " processors.\n\n"
            << "| `session_timeout` | `touch_interval` | `tickTime` | the next holder, after a "
               "kill -9 | the loss, after the servers fell silent |\n"
            << "|---|---|---|---|---|\n"
            << std::flush;
  if (options.setting.session_timeout > 0ms) {
    measure(program, options.setting, options);
    return;
  }
  for (const Setting& setting : usual_settings()) measure(program, setting, options);
}

}  // namespace

int main(int argc, char* argv[]) {
  Options options;
  std::string servers;
  CLI::App app{
      "Measures how long a lock stays held after a kill -9 of its holder, and how long servers may "
      "be silent before a holder loses its lock: a table, of several settings or of the one that "
      "--session-timeout begins. It starts its own servers. See docs/fast-failover.md."};
  app.add_option("--runs", options.runs, "of each setting; 9 if not given")
      ->check(CLI::PositiveNumber);
  app.add_flag("--ensemble", options.ensemble, "three servers instead of one");
  cli::add_duration_option(app, "--session-timeout", options.setting.session_timeout,
                           "one setting, instead of several");
  cli::add_duration_option(app, "--touch-interval", options.setting.touch_interval,
                           "of that setting; three quarters of the tick");
  cli::add_duration_option(app, "--tick", options.setting.tick, "of that setting's servers");
  app.add_option("--holder", servers)->group("");  // this program starts itself with the option
  CLI11_PARSE(app, argc, argv);
  try {
    if (!servers.empty()) return hold(servers, options.setting);
    measure_all("/proc/self/exe", options);
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
}
