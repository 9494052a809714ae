#include "measuring.hpp"

#include <algorithm>
#include <sstream>
#include <thread>

#include "socket_bytes.hpp"

namespace custodian::bench {
namespace {

constexpr std::chrono::seconds patience{300};
/// The work `sessions` measures `steps` releases one by one, and then up to `steps_together`
/// releases together.
constexpr int steps = 10;
constexpr int steps_together = 50;

std::chrono::nanoseconds cpu_time(const std::vector<std::unique_ptr<DriverLink>>& drivers) {
  std::chrono::nanoseconds sum{0};
  for (const auto& driver : drivers) sum += driver->cpu_time();
  return sum;
}

}  // namespace

Measuring::Measuring(const ContestantEntry& contestant, const Workload& workload,
                     const Servers& servers, const std::string& page)
    : name_{contestant.name},
      workload_{workload},
      servers_{&servers},
      page_file_{page},
      page_{page} {
  for (int i = 0; i < workload.processes; ++i) {
    std::vector<std::string> words = contestant.arguments;
    words.push_back(servers.address(static_cast<std::size_t>(i)));
    drivers_.push_back(std::make_unique<DriverLink>(name_, contestant.program, words));
  }
  if (workload.work == "start") relay_.emplace(servers.ports().at(0));
}

std::string Measuring::task(std::chrono::duration<double> seconds) const {
  std::ostringstream words;
  words << "prepare work=" << workload_.work << " path=/bench/" << workload_.name << "/" << name_;
  if (workload_.new_path) words << "-" << measured_;
  if (relay_) words << " servers=" << relay_->address();
  words << " counter=" << page_file_ << " threads=" << workload_.threads
        << " sessions=" << workload_.sessions << " waiters=" << workload_.waiters
        << " locks=" << workload_.locks << " write_every=" << workload_.write_every
        << " passes=" << workload_.passes << " keep=" << int{workload_.keep}
        << " share=" << workload_.share << " hold_us=" << workload_.hold_us
        << " pause_us=" << workload_.pause_us << " seconds=" << seconds.count();
  return words.str();
}

void Measuring::ask_all(const std::string& line) {
  for (const auto& driver : drivers_) driver->tell(line);
  for (const auto& driver : drivers_) static_cast<void>(driver->answer(patience));
}

DriverResult Measuring::result() {
  std::optional<DriverResult> all;
  for (const auto& driver : drivers_) {
    const DriverResult one = parse_result(driver->ask("result", patience));
    if (all) {
      all->add(one);
    } else {
      all = one;
    }
  }
  check_exclusion(all.value());
  return *all;
}

Metrics Measuring::measure(std::chrono::duration<double> seconds) {
  page_.clear();
  ++measured_;
  if (workload_.work == "sessions") return step_through(task(seconds));

  ask_all(task(seconds));
  Metrics metrics = run();
  const DriverResult all = result();
  // At this point the figures in `metrics` are sums over all cycles.
  const auto cycles = static_cast<double>(all.cycles);
  for (auto& [name, value] : metrics) {
    if (name.ends_with("_per_cycle")) value /= cycles;
  }
  metrics.merge(to_metrics(all));
  if (workload_.work == "start") {
    metrics["first_acquire_ms"] = metrics.at("acquire_max_us") / 1e3;
    for (const char* other : {"acquire_p50_us", "acquire_p99_us", "acquire_max_us", "cycles_per_s"})
      metrics.erase(other);
  }
  return metrics;
}

void Measuring::check_exclusion(const DriverResult& result) const {
  std::ostringstream told;
  if (result.violations > 0 && workload_.work == "count")
    told << "the number is off by " << result.violations << "; ";
  else if (result.violations > 0 && workload_.work == "release")
    told << result.violations << " waiters went on before the barrier was open; ";
  else if (result.violations > 0)
    told << result.violations << " times somebody else was inside; ";
  // The works `start` and `sessions` do not count their holds on the page, and report no writes.
  if (result.writes > 0 && page_.count() != result.writes)
    told << result.writes << " holds, and " << page_.count() << " counted; ";
  if (!result.in_order) told << "waiters had it out of order; ";
  if (result.cycles == 0 && workload_.work != "sessions") told << "nothing was done; ";
  if (const std::string text = told.str(); !text.empty())
    throw Violation{name_ + " at " + workload_.name + ": " + text.substr(0, text.size() - 2)};
}

/// Runs one measurement. Its figures are sums over all cycles.
Metrics Measuring::run() {
  const auto requests = servers_->requests();
  const auto bytes = bytes_sent_from(servers_->ports());
  const auto cpu = cpu_time(drivers_);
  ask_all("begin");
  Metrics metrics;
  metrics["cpu_us_per_cycle"] =
      std::chrono::duration<double, std::micro>{cpu_time(drivers_) - cpu}.count();
  if (relay_) {
    metrics["requests_per_cycle"] = relay_->requests();
    // The first turn of the relay is the handshake.
    metrics["round_trips"] = relay_->turns() - 1;
    return metrics;
  }
  // The connections of the work `waiters` are closed by now, and the kernel has forgotten their
  // counts.
  if (workload_.work != "waiters")
    metrics["bytes_per_cycle"] = static_cast<double>(bytes_sent_from(servers_->ports()) - bytes);
  if (requests)
    metrics["requests_per_cycle"] = static_cast<double>(servers_->requests().value() - *requests);
  return metrics;
}

/// Counts the wake-ups of each release by itself, and waits for the servers to rest before the next
/// release. Then counts bytes over several releases without such pauses, in which pings would be
/// sent: pings are not part of a hand-over. Short queues are rebuilt repeatedly.
Metrics Measuring::step_through(const std::string& task) {
  // A queue is rebuilt when a quarter of its contenders have released, so that its length changes
  // little.
  const int of_a_queue = std::max(1, (workload_.sessions - 1) / 4);
  DriverResult all;
  int left = of_a_queue;
  auto before = queue_up(task);
  const auto queue_up_again = [&] {
    all.add(result());
    left = of_a_queue;
    before = queue_up(task);
  };

  int woken = 0;
  for (int i = 0; i < steps; ++i, --left) {
    if (left == 0) queue_up_again();
    const std::string who = release();
    for (const auto& [session, notices] : rest()) {
      // While a request of a session has no answer yet, the session's count of notices is too low.
      if (notices <= before[session]) continue;
      before[session] = notices;
      if (session != who) ++woken;
    }
  }

  const int together = std::min(steps_together, steps * of_a_queue);
  std::int64_t bytes = 0;
  for (int done = 0; done < together;) {
    if (left == 0) queue_up_again();
    const int in_a_row = std::min(left, together - done);
    const auto sent = bytes_sent_from(servers_->ports());
    for (int i = 0; i < in_a_row; ++i) static_cast<void>(release());
    // Messages of the last release may still be under way.
    static_cast<void>(rest());
    bytes += bytes_sent_from(servers_->ports()) - sent;
    done += in_a_row;
    left -= in_a_row;
  }
  all.add(result());

  Metrics metrics = to_metrics(all);
  metrics["woken_per_release"] = static_cast<double>(woken) / steps;
  metrics["bytes_per_cycle"] = static_cast<double>(bytes) / together;
  return metrics;
}

std::map<std::string, std::int64_t> Measuring::queue_up(const std::string& task) {
  ask_all(task);
  // A contender of the new queue holds the lock, so the contenders of earlier queues are gone, and
  // all ephemeral nodes are the new queue's.
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (servers_->ephemeral_nodes() < workload_.sessions) {
    check_interruption();
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error{name_ + ": not all sessions have come to the queue"};
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return rest();
}

/// Orders the holder to release, waits for the next grant, and returns the session that released.
std::string Measuring::release() {
  const std::string answer = drivers_.front()->ask("release", patience);
  return answer.substr(answer.find(' ') + 1);
}

std::map<std::string, std::int64_t> Measuring::rest() const {
  auto now = servers_->notices();
  for (;;) {
    check_interruption();
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    // A write whose reply waits for a busy disk may take longer than the pause.
    const bool answered = servers_->unanswered() == 0;
    auto later = servers_->notices();
    if (later == now && answered) return now;
    now = std::move(later);
  }
}

}  // namespace custodian::bench
