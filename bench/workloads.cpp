#include "workloads.hpp"

namespace custodian::bench {
namespace {

std::string counted(int number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

const std::vector<std::string> everybody{our_name,
                                         "ours-async",
                                         "floor",
                                         "floor-waiting",
                                         "curator",
                                         "kazoo",
                                         "redis",
                                         "redis-aof",
                                         "redis-fair",
                                         "mariadb-get-lock",
                                         "mariadb-for-update",
                                         "etcd"};
/// The contestants of the workloads with many threads in one client. Contestants with only one
/// thread, or with a session for each thread, are omitted.
const std::vector<std::string> crowds{our_name,
                                      "curator",
                                      "kazoo",
                                      "redis",
                                      "redis-aof",
                                      "redis-fair",
                                      "mariadb-get-lock",
                                      "mariadb-for-update",
                                      "etcd"};
const std::vector<std::string> batches = [] {
  std::vector<std::string> names = crowds;
  names.insert(names.begin() + 1, "floor-threads");
  return names;
}();
const std::vector<std::string> on_zookeeper{our_name, "curator", "kazoo"};
const std::vector<std::string> counters{our_name, "ours-once", "curator"};
const std::vector<std::string> secured{our_name, "ours-netty", "ours-tls"};
const std::vector<std::string> alone{our_name,        "ours-async", "floor",
                                     "floor-waiting", "curator",    "kazoo"};

}  // namespace

std::vector<Workload> all_workloads(const WorkloadSizes& sizes) {
  return {
      {.name = "lock",
       .title = "Lock and unlock, one thread, no contention",
       .contestants = everybody,
       .targets = {{"cycles_per_s", "curator", true, 1.8},
                   {"cycles_per_s", "floor", true, 0.9},
                   {"cpu_us_per_cycle", "curator", false, 0.5}}},
      {.name = "threads",
       .title = "8 threads, one client, one lock",
       .threads = 8,
       .contestants = crowds,
       .targets = {{"cycles_per_s", "curator", true, 6},
                   {"cpu_us_per_cycle", "curator", false, 0.5}}},
      {.name = "batch",
       .title = "8 threads, one client, one lock, ours with HandOff::cohort",
       .threads = 8,
       .passes = 64,
       .contestants = batches,
       .targets = {{"cycles_per_s", "curator", true, 100}, {"cycles_per_s", "redis", true, 1}}},
      {.name = "kept",
       .title = "Lock and unlock, one thread, ours with keep_idle_for",
       .keep = true,
       .contestants = crowds,
       .targets = {{"cycles_per_s", "curator", true, 1'000}, {"cycles_per_s", "redis", true, 50}}},
      {.name = "kept-threads",
       .title = "8 threads, one client, one lock, ours with keep_idle_for",
       .threads = 8,
       .keep = true,
       .contestants = batches,
       .targets = {{"cycles_per_s", "curator", true, 130}}},
      {.name = "kept-processes",
       .title = "2 processes that alternate, ours with keep_idle_for",
       .processes = 2,
       .keep = true,
       .pause_us = 2000,
       .contestants = alone,
       .targets = {{"cycles_per_s", "curator", true, 1}}},
      {.name = "processes",
       .title = "8 processes, one lock",
       .processes = 8,
       .contestants = everybody,
       .targets = {{"cycles_per_s", "curator", true, 2},
                   {"cpu_us_per_cycle", "curator", false, 0.5}}},
      // Each hold is long enough for the other contender to queue and set its watch before the
      // release.
      {.name = "handover",
       .title = "Hand-over between two sessions",
       .processes = 2,
       .hold_us = 5000,
       .pause_us = 2000,
       .figure = "handover_p50_us",
       .contestants = alone,
       .targets = {{"handover_p50_us", "floor", false, 1.3}}},
      {.name = "readwrite",
       .title = "Read/write lock, 90 % reads, 8 threads, one client",
       .threads = 8,
       .write_every = 10,
       // kazoo cannot take part: its readers and writers wait for each other for ever; see
       // docs/wire-format.md.
       .contestants = {our_name, "floor", "curator"},
       .targets = {{"cycles_per_s", "curator", true, 3}}},
      {.name = "shared-readers",
       .title = "Read/write lock, 90 % reads, 8 threads, one client, ours with share_readers",
       .threads = 8,
       .write_every = 10,
       .keep = true,
       .share = 64,
       .contestants = {our_name, "floor", "curator"},
       .targets = {{"cycles_per_s", "curator", true, 6}}},
      // No thread waits for another here, so the limit is how fast the servers do the two writes of
      // each cycle.
      {.name = "readers",
       .title = "Read/write lock, next to no writer, 8 threads, one client",
       .threads = 8,
       .write_every = 1'000'000,
       .contestants = {our_name, "floor", "curator"}},
      {.name = "kept-readers",
       .title =
           "Read/write lock, next to no writer, 8 threads, one client, ours with share_readers",
       .threads = 8,
       .write_every = 1'000'000,
       .keep = true,
       .share = 1'000'000,
       .contestants = {our_name, "floor", "curator"},
       .targets = {{"cycles_per_s", "curator", true, 200}}},
      {.name = "tls",
       .title = "Lock and unlock, one thread, no contention: what TLS costs",
       .contestants = secured},
      {.name = "tls-readers",
       .title = "Read/write lock, next to no writer, 8 threads, one client: what TLS costs",
       .threads = 8,
       .write_every = 1'000'000,
       .contestants = secured},
      {.name = "sessions",
       .title = "One lock, a queue of sessions: a release",
       .work = "sessions",
       .threads = sizes.sessions,
       .sessions = sizes.sessions,
       .figure = "bytes_per_cycle",
       .contestants = on_zookeeper,
       .targets = {{"woken_per_release", "", false, 1}, {"bytes_per_cycle", "curator", false, 1}}},
      {.name = "atomic",
       .title = "A number is increased, one thread",
       .work = "count",
       .contestants = counters,
       .targets = {{"cycles_per_s", "curator", true, 1.5}}},
      {.name = "atomic-threads",
       .title = "A number is increased, 8 threads, one client",
       .work = "count",
       .threads = 8,
       .contestants = counters,
       .targets = {{"cycles_per_s", "curator", true, 3}}},
      {.name = "barrier",
       .title = "A barrier opens for waiters with a session each: until the last one goes on",
       .work = "release",
       .threads = sizes.sessions,
       .sessions = sizes.sessions,
       .figure = "handover_p50_us",
       .contestants = {our_name, "curator"},
       .targets = {{"handover_p50_us", "curator", false, 0.5}}},
      {.name = "start",
       .title = "First lock of a new client",
       .work = "start",
       .figure = "first_acquire_ms",
       .contestants = alone,
       .targets = {{"round_trips", "", false, 3}}},
      {.name = "start-new",
       .title = "First lock of a new client, at a path that is not there yet",
       .work = "start",
       .new_path = true,
       .figure = "first_acquire_ms",
       .contestants = alone},
      {.name = "waiters",
       .title = "Many waiters of one process on one lock",
       .work = "waiters",
       .waiters = sizes.waiters,
       .figure = "drained_per_s",
       .contestants = {our_name},
       .targets = {{"drained_per_s", "", true, 5000}, {"memory_per_waiter", "", false, 2048}}},
  };
}

std::string parameters(const Workload& workload) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (workload.work == "release") {
    add(counted(workload.sessions, "session"));
  } else if (workload.work == "waiters") {
    add(counted(workload.waiters, "waiter"));
  } else if (workload.work == "sessions") {
    add(counted(workload.sessions, "session"));
  } else {
    add(workload.processes == 1 ? "1 process" : std::to_string(workload.processes) + " processes");
    add(counted(workload.threads, "thread") + (workload.processes > 1 ? " each" : ""));
  }
  if (workload.locks > 0) add("holds " + counted(workload.locks, "other lock"));
  if (workload.hold_us > 0) add("held for " + std::to_string(workload.hold_us) + " us");
  if (workload.pause_us > 0) add("pause of " + std::to_string(workload.pause_us) + " us");
  if (workload.write_every > 0) add("one in " + std::to_string(workload.write_every) + " writes");
  if (workload.keep) add("kept by ours");
  if (workload.share > 1) add("up to " + std::to_string(workload.share) + " readers a node");
  if (workload.passes > 0) add("batches of " + std::to_string(workload.passes) + " passes");
  return text;
}

std::vector<std::size_t> order_of_round(std::size_t contestants, int round) {
  std::vector<std::size_t> order(contestants);
  for (std::size_t i = 0; i < contestants; ++i)
    order[i] = (i + static_cast<std::size_t>(round)) % contestants;
  return order;
}

}  // namespace custodian::bench
