#include "bench_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "custodian/version.hpp"
#include "machine.hpp"
#include "measuring.hpp"
#include "metrics.hpp"

namespace custodian::bench {
namespace {

/// The servers that the contestants have needed so far. They run until the end of the benchmark:
/// idle servers cost nothing.
class AllServers {
 public:
  explicit AllServers(const Options& options) : options_{&options} {}

  const Servers& of(Kind kind) {
    std::unique_ptr<Servers>& servers = running_[kind];
    if (!servers) servers = start(kind);
    return *servers;
  }

 private:
  [[nodiscard]] std::unique_ptr<Servers> start(Kind kind) const {
    if (!is_zookeeper(kind)) return start_peer(kind, options_->directory);
    return start_zookeeper(kind, options_->ensemble ? Ensemble::three : Ensemble::one);
  }

  const Options* options_;
  std::map<Kind, std::unique_ptr<Servers>> running_;
};

/// A contestant of this workload. `measuring` is null once the contestant has failed.
struct Entrant {
  ContestantResult result;
  std::unique_ptr<Measuring> measuring;
};

ContestantResult describe(const ContestantEntry& entry) {
  ContestantResult result;
  result.name = entry.name;
  result.version = entry.package.empty() ? entry.version : package_version(entry.package);
  result.does = entry.does;
  result.durability = entry.durability;
  result.route = entry.route;
  return result;
}

class WorkloadRun {
 public:
  WorkloadRun(const Workload& workload, const Options& options, AllServers& servers,
              const std::string& page, const Listener& listener)
      : workload_{&workload}, options_{&options}, listener_{&listener} {
    std::vector<ContestantEntry> entries = all_contestants();
    if (!options.before.empty()) entries.push_back(ours_before(options.before));
    for (const ContestantEntry& entry : entries) {
      const auto& wanted = workload.contestants;
      if (std::find(wanted.begin(), wanted.end(), entry.name) == wanted.end()) continue;
      if (entry.absent.empty()) {
        admit(entry, servers, page);
      } else {
        result_.absent.push_back({entry.name, entry.absent});
      }
    }
  }

  WorkloadResult measure() {
    for (Entrant& entrant : entrants_) {
      tell("warm-up: " + entrant.result.name);
      attempt(entrant, options_->warm_up);
    }
    for (int round = 0; round < options_->rounds; ++round) {
      for (const std::size_t i : order_of_round(entrants_.size(), round)) {
        Entrant& entrant = entrants_[i];
        const Metrics metrics = attempt(entrant, options_->seconds);
        // A contestant that has failed gets an empty round, so that the same index means the same
        // round for all contestants.
        entrant.result.rounds.push_back(metrics);
        tell_of(round, entrant, metrics);
      }
    }
    result_.name = workload_->name;
    result_.title = workload_->title;
    result_.parameters = parameters(*workload_);
    result_.figure = workload_->figure;
    result_.series = workload_->series;
    result_.size = workload_->size;
    result_.targets = workload_->targets;
    for (Entrant& entrant : entrants_) result_.contestants.push_back(std::move(entrant.result));
    return std::move(result_);
  }

 private:
  void admit(const ContestantEntry& entry, AllServers& servers, const std::string& page) {
    entrants_.push_back({describe(entry), nullptr});
    Entrant& entrant = entrants_.back();
    guard(entrant, [&] {
      entrant.measuring =
          std::make_unique<Measuring>(entry, *workload_, servers.of(entry.kind), page);
    });
  }

  Metrics attempt(Entrant& entrant, double seconds) {
    Metrics metrics;
    guard(entrant, [&] {
      if (entrant.measuring)
        metrics = entrant.measuring->measure(std::chrono::duration<double>{seconds});
    });
    return metrics;
  }

  template <typename Work>
  void guard(Entrant& entrant, const Work& work) {
    try {
      work();
    } catch (const Violation&) {
      throw;
    } catch (const std::exception& error) {
      entrant.result.failure = error.what();
      entrant.measuring.reset();
      tell(entrant.result.name + " failed: " + error.what());
    }
  }

  void tell(const std::string& what) const { listener_->progress(workload_->name + ": " + what); }

  void tell_of(int round, const Entrant& entrant, const Metrics& metrics) const {
    const auto found = metrics.find(workload_->figure);
    if (found == metrics.end()) return;
    const Metric& figured = metric(workload_->figure);
    tell("round " + std::to_string(round + 1) + ": " + entrant.result.name + ": " +
         std::string{figured.title} + " " + figure(found->second) + " " +
         std::string{figured.unit});
  }

  const Workload* workload_;
  const Options* options_;
  const Listener* listener_;
  WorkloadResult result_;
  std::vector<Entrant> entrants_;
};

}  // namespace

RunResult run(const Options& options, const std::string& command, const Listener& listener) {
  // The test harness puts its servers' data below TMPDIR.
  ::setenv("TMPDIR", options.directory.c_str(), 1);
  RunResult result;
  result.command = command;
  result.date = date_and_time();
  result.machine = describe_machine();
  result.rounds = options.rounds;
  result.seconds = options.seconds;
  result.servers = std::string{options.ensemble ? "an ensemble of three" : "one server"} +
                   " of ZooKeeper " + package_version("libzookeeper-java") + ", log on disk (" +
                   file_system_of(options.directory) + "), forced";
  const OwnDirectory directory{options.directory};
  AllServers servers{options};
  try {
    for (const Workload& workload : chosen(options)) {
      result.workloads.push_back(
          WorkloadRun{workload, options, servers, directory.file("page"), listener}.measure());
      listener.measured(result.workloads.back());
    }
  } catch (const Interrupted&) {
    listener.progress("interrupted; workloads that were complete are told");
    result.complete = false;
  }
  return result;
}

}  // namespace custodian::bench
