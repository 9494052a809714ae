#include "stage.hpp"

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"
#include "custodian/semaphores/inter_process_semaphore_mutex.hpp"
#include "interruption.hpp"
#include "support/over_tls.hpp"
#include "writes.hpp"

using namespace std::chrono_literals;

namespace custodian::chaos {
namespace {

constexpr const char* root = "/chaos";

/// The time limit of every wait, long enough for a slow machine.
constexpr std::chrono::milliseconds limit{60'000};

testing::TestingClusterOptions cluster_options(const StageSettings& settings) {
  testing::TestingClusterOptions options;
  options.peer_links = testing::PeerLinks::proxied;
  options.server.tick_time = settings.tick;
  options.server.connection_factory = settings.connection_factory;
  // With this limit, a follower that is cut off answers reads long enough for the fault to matter.
  options.sync_limit = 6;
  // After this limit, a member gives up a leader that it has voted for and cannot reach.
  options.init_limit = 10;
  return tests::secured(std::move(options));
}

ClientOptions driver_options(const testing::TestingCluster& cluster) {
  ClientOptions options;
  options.servers = tests::connect_string(cluster);
  options.session_timeout = 30s;
  options.operation_timeout = limit;
  return tests::secured(std::move(options));
}

}  // namespace

Place::Place(int number, const testing::TestingCluster& cluster) : number_{number} {
  for (std::size_t member = 0; member < cluster.size(); ++member)
    lines_.emplace_back(tests::entry_of(cluster.server(member)));
}

std::string Place::next_name() {
  return std::to_string(number_) + "." + std::to_string(++incarnations_);
}

std::string Place::connect_string() const {
  std::string text;
  for (const auto& line : lines_) text += (text.empty() ? "" : ",") + line.connect_string();
  return text;
}

void Place::confine_to(std::size_t member) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (i == member) continue;
    lines_[i].refuse();
    lines_[i].cut();
  }
}

void Place::heal() {
  for (auto& line : lines_) line.heal();
}

Stage::Stage(StageSettings settings)
    : settings_{std::move(settings)},
      random_{settings_.seed},
      journal_{settings_.directory / "driver"},
      cluster_{cluster_options(settings_)},
      client_{driver_options(cluster_)} {
  // An acquire may have to wait for all other contenders, and each of them may hold the lock until
  // it notices a loss.
  const auto patience = 10 * settings_.session_timeout;
  journal_.note("run " + std::to_string(settings_.seed) + " " +
                std::to_string(settings_.session_timeout.count()) + " " +
                std::to_string(patience.count()));
  client_.create(root);
  for (const std::string& lock : settings_.locks) {
    client_.create(guarded_register(root, lock));
    client_.create(bare_register(root, lock));
    const int passes = passes_of(kind_of(lock).value_or(LockKind::mutex));
    if (passes > 0) journal_.note("passes " + lock + " " + std::to_string(passes));
  }
  for (int number = 1; number <= settings_.workers; ++number)
    places_.emplace_back(number, cluster_);
}

Stage::~Stage() = default;

void Stage::start_workers() {
  for (Place& place : places_) employ_another(place);
  wait_until_all_is_well();
}

void Stage::employ_another(Place& place) {
  const std::string name = place.next_name();
  std::vector<std::string> arguments{
      "--name", name, "--servers", place.connect_string(), "--root", root, "--session-timeout",
      std::to_string(settings_.session_timeout.count()),
      // The touch interval is half a tick, and one more tick for a server that is busy.
      "--touch-interval", std::to_string((settings_.tick * 3 / 2).count()), "--register-port",
      std::to_string(fenced_register_.port()), "--seed", std::to_string(random_()), "--directory",
      settings_.directory.string()};
  std::ranges::move(tests::words_for_tls(), std::back_inserter(arguments));
  for (const std::string& lock : settings_.locks) {
    arguments.emplace_back("--lock");
    arguments.push_back(lock);
  }
  place.employ(std::make_unique<WorkerProcess>(name, settings_.worker_program.string(), arguments));
  wait_for("worker " + name, [&] { return place.worker().is_ready(); });
}

Place& Stage::any_place() { return places_[random_() % places_.size()]; }

const std::string& Stage::any_lock() {
  for (;;) {
    const std::string& lock = settings_.locks[random_() % settings_.locks.size()];
    if (kind_of(lock) != LockKind::semaphore) return lock;
  }
}

std::size_t Stage::any_follower() {
  cluster_.wait_until_serving();
  const auto followers = cluster_.followers();
  if (followers.empty()) throw std::runtime_error{"nobody follows"};
  return followers[random_() % followers.size()];
}

std::vector<Participant> Stage::queue(const std::string& lock) {
  const std::string path = root + ("/" + lock);
  switch (kind_of(lock).value_or(LockKind::mutex)) {
    case LockKind::mutex:
    case LockKind::mutex_batch:
    case LockKind::mutex_kept:
    case LockKind::leader_selector: return InterProcessMutex{client_, path}.participants();
    case LockKind::leader_latch: return LeaderLatch{client_, path}.participants();
    case LockKind::read_write:
    case LockKind::read_write_shared:
      return InterProcessReadWriteLock{client_, path}.read().participants();
    case LockKind::semaphore:
    case LockKind::semaphore_mutex: break;
  }
  auto queue = InterProcessSemaphoreMutex{client_, path}.participants();
  if (queue.size() > 1) queue.resize(1);  // the next in line also stands in the other queue
  std::ranges::move(InterProcessMutex{client_, path + "/locks"}.participants(),
                    std::back_inserter(queue));
  return queue;
}

WorkerProcess::Kept Stage::keep(Place& place, const std::string& lock) {
  WorkerProcess& worker = place.worker();
  worker.keep(lock);
  std::optional<WorkerProcess::Kept> kept;
  wait_for("hold of " + lock + " by worker " + worker.name(), [&] {
    kept = worker.kept();
    return kept && kept->lock == lock;
  });
  return kept.value_or(WorkerProcess::Kept{});
}

void Stage::quieten(Place& place) {
  place.worker().be_quiet();
  // Acquires and holds that have begun may end first.
  pass(settings_.session_timeout / 4);
}

void Stage::wait_for_grant_after(const WorkerProcess::Kept& kept) {
  wait_for("grant of " + kept.lock + " after token " + to_string(kept.token),
           [&] { return newest_token(kept.lock) > kept.token; });
}

void Stage::wait_until_all_is_well() {
  cluster_.wait_until_serving();
  std::map<std::string, Token> tokens;
  for (const std::string& lock : settings_.locks) tokens[lock] = newest_token(lock);
  std::vector<std::uint64_t> grants;
  for (const Place& place : places_) grants.push_back(place.worker().grants());
  wait_for("grant of each lock, and one to each worker", [&] {
    for (const std::string& lock : settings_.locks) {
      if (newest_token(lock) <= tokens[lock]) return false;
    }
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if (places_[i].worker().grants() <= grants[i]) return false;
    }
    return true;
  });
}

void Stage::wait_for(const std::string& what, const std::function<bool()>& condition) {
  const Deadline deadline{limit};
  while (!condition()) {
    if (deadline.passed())
      throw std::runtime_error{"no " + what + " after " + std::to_string(limit.count()) + " ms"};
    listen();
  }
}

void Stage::pass(std::chrono::milliseconds length) {
  const Deadline deadline{length};
  while (!deadline.passed()) listen();
}

void Stage::listen() {
  throw_if_interrupted();
  std::vector<pollfd> sources;
  for (const Place& place : places_) {
    // poll() skips negative descriptors: those of workers that have ended or not started.
    const int descriptor = place.has_worker() ? place.worker().descriptor() : -1;
    sources.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
  }
  constexpr int moment_ms = 20;
  if (::poll(sources.data(), sources.size(), moment_ms) <= 0) return;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].revents == 0) continue;
    WorkerProcess& worker = places_[i].worker();
    worker.listen();
    if (worker.has_ended() && !(finishing_ && worker.load_when_done()))
      throw std::runtime_error{"worker " + worker.name() + " has ended by itself"};
  }
}

Token Stage::newest_token(const std::string& lock) const {
  Token newest;
  for (const Place& place : places_) {
    if (!place.has_worker()) continue;
    const auto found = place.worker().tokens().find(lock);
    if (found != place.worker().tokens().end()) newest = std::max(newest, found->second);
  }
  return newest;
}

void Stage::finish() {
  finishing_ = true;
  for (const Place& place : places_) place.worker().finish();
  wait_for("end of the workers", [&] {
    return std::ranges::all_of(places_,
                               [](const Place& place) { return place.worker().has_ended(); });
  });
  note_what_is_left();
  journal_.note("end");
}

void Stage::note_what_is_left() {
  // The nodes and watches of killed workers stay on the servers until their sessions have expired.
  const Deadline deadline{4 * settings_.session_timeout};
  while ((nodes_left() != 0 || watches_left() != 0) && !deadline.passed()) pass(50ms);
  std::size_t waiters = 0;
  for (const Place& place : places_) waiters += place.worker().load_when_done().value_or(1);
  journal_.note("left nodes " + std::to_string(nodes_left()));
  journal_.note("left watches " + std::to_string(watches_left()));
  journal_.note("left waiters " + std::to_string(waiters));
  for (const std::string& lock : settings_.locks) {
    const std::string path = guarded_register(root, lock);
    client_.sync(path);
    journal_.note("register " + lock + " " + std::to_string(client_.get(path).stat.version));
  }
}

std::size_t Stage::nodes_left() {
  std::size_t count = 0;
  client_.sync(root);
  for (const std::string& lock : settings_.locks) {
    for (const std::string& parent : parents_of_contenders(root, lock)) {
      try {
        count += client_.children(parent).names.size();
      } catch (const Error& error) {
        // The servers have removed the container, which was empty.
        if (error.code() != ServerErrc::no_node) throw;
      }
    }
  }
  return count;
}

std::int64_t Stage::watches_left() {
  std::int64_t count = 0;
  for (std::size_t member = 0; member < cluster_.size(); ++member)
    count += cluster_.server(member).statistic("zk_watch_count");
  return count;
}

}  // namespace custodian::chaos
