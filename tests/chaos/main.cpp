/// \file
/// Runs chaos, and leaves the histories in a directory, for custodian-chaos-check.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "faults.hpp"
#include "interruption.hpp"
#include "stage.hpp"

namespace custodian::chaos {
namespace {

struct Settings {
  StageSettings stage{};
  int cuts_per_kind = 5;
  std::chrono::seconds duration{0};  ///< 0 means until `cuts_per_kind` rounds are over
  std::vector<FaultKind> kinds{all_fault_kinds.begin(), all_fault_kinds.end()};
};

/// The path of the worker, which is in the directory of this program.
std::filesystem::path worker_beside_us() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "custodian-chaos-worker";
}

/// Creates the directory, or a temporary one if no name is given. An existing directory must be
/// empty.
std::filesystem::path make_directory(const std::string& wanted) {
  if (wanted.empty()) {
    std::string name = (std::filesystem::temp_directory_path() / "custodian-chaos-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::system_error{errno, std::generic_category(), name};
    return name;
  }
  std::filesystem::create_directories(wanted);
  if (!std::filesystem::is_empty(wanted)) throw std::runtime_error{wanted + " is not empty"};
  return std::filesystem::absolute(wanted);
}

/// Throws if there are locks on which faults cannot be played.
void check_locks(const std::vector<std::string>& locks) {
  for (const std::string& lock : locks) {
    if (!kind_of(lock)) throw std::runtime_error{"no kind of lock is called " + lock};
  }
  if (std::ranges::all_of(locks, [](auto& lock) { return kind_of(lock) == LockKind::semaphore; }))
    throw std::runtime_error{"a semaphore alone will not do: faults are aimed at one holder"};
}

/// Plays each kind of fault once in a round. The order differs from round to round.
void run(const Settings& settings) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  Stage stage{settings.stage};
  stage.start_workers();
  Faults faults{stage};
  std::mt19937_64 order{settings.stage.seed};
  std::vector<FaultKind> kinds = settings.kinds;
  const auto is_over = [&] {
    return settings.duration.count() > 0 && Clock::now() - start >= settings.duration;
  };
  for (int round = 1; round <= settings.cuts_per_kind && !is_over(); ++round) {
    std::ranges::shuffle(kinds, order);
    for (const FaultKind kind : kinds) {
      if (is_over()) break;
      const auto begun = Clock::now();
      faults.play(kind);
      const auto seconds = [](Clock::duration time) {
        return std::chrono::duration<double>{time}.count();
      };
      std::cout << std::fixed << std::setprecision(1) << std::setw(8) << seconds(begun - start)
                << " s  round " << round << "  " << std::left << std::setw(26) << to_string(kind)
                << std::right << seconds(Clock::now() - begun) << " s\n"
                << std::flush;
    }
  }
  stage.finish();
}

}  // namespace
}  // namespace custodian::chaos

int main(int argc, char* argv[]) {
  namespace chaos = custodian::chaos;
  chaos::Settings settings;
  int session_timeout = static_cast<int>(settings.stage.session_timeout.count());
  int tick = static_cast<int>(settings.stage.tick.count());
  int duration = 0;
  std::string connections = "nio";
  std::string wanted_directory;
  std::vector<std::string> kinds;
  std::vector<std::string> locks;
  bool keep = false;
  settings.stage.seed = std::random_device{}();

  CLI::App app{
      "Runs processes that contend for locks on a cluster of three servers, and faults: members\n"
      "and clients are cut off, servers are killed and paused, workers stopped and killed, nodes\n"
      "deleted. Each process writes down what it sees; custodian-chaos-check judges that.\n\n"
      "Exits with 0 when the run came to its end, whatever the judge may say of it."};
  app.add_option("--seed", settings.stage.seed, "of all that is drawn at random; it is printed");
  app.add_option("--cuts-per-kind", settings.cuts_per_kind,
                 "how often each kind of fault is played")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--duration", duration, "seconds after which no more faults begin; 0: no limit")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--kind", kinds, "play this kind of fault alone; may be repeated");
  app.add_option(
      "--lock", locks,
      "a lock that they contend for: mutex, mutex-batch, mutex-kept, read-write,\n"
      "read-write-shared, semaphore-mutex, semaphore, leader-latch, leader-selector, or one of\n"
      "these with a suffix (mutex-2); may be repeated. Default: one of each kind");
  app.add_option("--workers", settings.stage.workers, "processes that contend")
      ->check(CLI::Range(2, 50))
      ->capture_default_str();
  app.add_option("--session-timeout", session_timeout, "of the workers, in milliseconds")
      ->check(CLI::Range(1'000, 60'000))
      ->capture_default_str();
  app.add_option("--tick", tick, "the servers' unit of time, in milliseconds")
      ->check(CLI::Range(100, 10'000))
      ->capture_default_str();
  app.add_option("--connections", connections, "what takes the servers' connections: nio, netty")
      ->check(CLI::IsMember{{"nio", "netty"}})
      ->capture_default_str();
  auto* directory =
      app.add_option("--directory", wanted_directory, "where the histories go; it must be empty");
  app.add_flag("--keep", keep, "put them into a temporary directory, which stays")
      ->excludes(directory);
  CLI11_PARSE(app, argc, argv);
  settings.stage.session_timeout = std::chrono::milliseconds{session_timeout};
  settings.stage.tick = std::chrono::milliseconds{tick};
  settings.duration = std::chrono::seconds{duration};
  if (connections == "netty")
    settings.stage.connection_factory = custodian::testing::ConnectionFactory::netty;

  int status = 1;
  try {
    if (wanted_directory.empty() && !keep)
      throw std::runtime_error{"where to the histories? --directory or --keep"};
    if (!kinds.empty()) settings.kinds.clear();
    for (const std::string& name : kinds) {
      const auto kind = chaos::parse_fault_kind(name);
      if (!kind) throw std::runtime_error{"no kind of fault is called " + name};
      settings.kinds.push_back(*kind);
    }
    if (!locks.empty()) settings.stage.locks = locks;
    chaos::check_locks(settings.stage.locks);
    chaos::note_interruptions();
    settings.stage.directory = chaos::make_directory(wanted_directory);
    settings.stage.worker_program = chaos::worker_beside_us();
    std::cout << "seed " << settings.stage.seed << ", histories in "
              << settings.stage.directory.string() << '\n'
              << std::flush;
    chaos::run(settings);
    status = 0;
  } catch (const chaos::Interrupted&) {
    std::cerr << "chaos: interrupted\n";
    status = 130;
  } catch (const std::exception& error) {
    std::cerr << "chaos: " << error.what() << '\n';
  }
  return status;
}
