#include "integration/client/cut_storm.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <ostream>
#include <ranges>
#include <set>
#include <stdexcept>
#include <utility>

#include "support/test_client.hpp"

namespace custodian::tests {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;

testing::TestingServerOptions server_options(const CutStormSettings& settings) {
  testing::TestingServerOptions options;
  options.connection_factory = settings.connection_factory;
  return options;
}

/// Returns how long it takes until the condition is true; the limit or more if it does not become
/// true.
microseconds time_until(const std::function<bool()>& condition, Clock::duration limit) {
  constexpr microseconds between_looks{200};
  const auto start = Clock::now();
  for (;;) {
    const auto waited = duration_cast<microseconds>(Clock::now() - start);
    if (waited >= limit || condition()) return waited;
    std::this_thread::sleep_for(between_looks);
  }
}

double in_milliseconds(microseconds time) {
  return std::chrono::duration<double, std::milli>{time}.count();
}

struct Spread {
  std::vector<microseconds> times;
};

std::ostream& operator<<(std::ostream& out, Spread spread) {
  if (spread.times.empty()) return out << "-";
  std::sort(spread.times.begin(), spread.times.end());
  return out << in_milliseconds(spread.times[spread.times.size() / 2]) << " ms (median), "
             << in_milliseconds(spread.times.back()) << " ms (longest)";
}

}  // namespace

CutStorm::CutStorm(CutStormSettings settings)
    : settings_{settings},
      server_{server_options(settings_)},
      client_{lay_paths()},
      observer_{options_for(server_.connect_string())} {
  client_.wait_connected();
  observer_.wait_connected();
}

CutStorm::~CutStorm() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

ClientOptions CutStorm::lay_paths() {
  std::string servers;
  for (int i = 0; i < settings_.paths; ++i) {
    const Path& path = paths_.emplace_back(server_.endpoint());
    servers += (servers.empty() ? "" : ",") + path.entry.connect_string();
  }
  ClientOptions options = options_for(std::move(servers));
  options.session_timeout = settings_.session_timeout;
  options.retry = RetryPolicy::forever(1ms);
  return options;
}

CutStormReport CutStorm::run() {
  begin_traffic();
  wait_for_grants();
  std::set<std::int64_t> sessions;
  for (; report_.cuts < settings_.cuts; ++report_.cuts) {
    // The cut falls at a random moment of the traffic.
    std::this_thread::sleep_for(microseconds{random_() % 3000});
    const std::uint64_t connection = client_.session().connection;
    if (report_.cuts % 2 == 0) {
      cut();
    } else {
      cut_and_deliver_late();
    }
    report_.healed.push_back(wait_for_next_connection(connection));
    sessions.insert(client_.session().id);
    wait_for_grants();
  }
  report_.sessions = static_cast<int>(sessions.size());
  end_traffic();
  look_for_orphans();
  return report_;
}

void CutStorm::begin_traffic() {
  for (int i = 0; i < settings_.locks; ++i) {
    Lock& lock = locks_.emplace_back();
    lock.path = "/lock-" + std::to_string(i);
    lock.mutex = std::make_unique<InterProcessMutex>(client_, lock.path);
    for (int k = 0; k < settings_.threads_per_lock; ++k)
      threads_.emplace_back([this, &lock](const std::stop_token& stop) { work(lock, stop); });
  }
  for (int i = 0; i < settings_.monitors; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { ask(stop); });
  report_.longest.resize(locks_.size());
}

void CutStorm::end_traffic() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
  for (const Lock& lock : locks_) report_.grants += lock.grants;
  report_.failures = failures_;
}

void CutStorm::work(Lock& lock, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      const Lease lease = lock.mutex->acquire(stop);
      ++lock.grants;
    } catch (const Error&) {
      if (!stop.stop_requested()) ++failures_;
    }
  }
}

void CutStorm::ask(const std::stop_token& stop) const {
  while (!stop.stop_requested()) {
    try {
      static_cast<void>(server_.four_letter_word("mntr"));
    } catch (const testing::TestingError&) {
      // It does not matter if a question gets no answer.
    }
  }
}

void CutStorm::cut() {
  for (Path& path : paths_) path.entry.cut(settings_.ending);
}

void CutStorm::cut_and_deliver_late() {
  std::vector<std::uint64_t> before;
  for (Path& path : paths_) {
    path.line.hold_back(testing::Direction::to_server);
    before.push_back(path.entry.accepted());
  }
  // Meanwhile requests pile up in the proxy, which holds them back.
  std::this_thread::sleep_for(microseconds{random_() % 2000});
  cut();
  Path* next = nullptr;
  const auto is_there = [&] {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (paths_[i].entry.accepted() > before[i]) next = &paths_[i];
    }
    return next != nullptr;
  };
  time_until(is_there, settings_.session_timeout / 6);
  if (next != nullptr) next->line.heal();
  std::this_thread::sleep_for(microseconds{random_() % 1000});
  for (Path& path : paths_) path.line.heal();
}

microseconds CutStorm::wait_for_next_connection(std::uint64_t connection) {
  const auto took = time_until([&] { return client_.session().connection > connection; }, patience);
  if (took >= patience) throw std::runtime_error{"the connection does not come back"};
  return took;
}

void CutStorm::wait_for_grants() {
  auto start = Clock::now();
  auto removal_is_due = start + 2 * settings_.session_timeout;
  std::uint64_t connection = client_.session().connection;
  std::vector<std::uint64_t> before;
  for (const Lock& lock : locks_) before.push_back(lock.grants);
  std::optional<microseconds> first;  // when the first of the locks was granted
  std::set<std::size_t> waited_for;
  for (std::size_t i = 0; i < locks_.size(); ++i) waited_for.insert(i);
  while (!waited_for.empty()) {
    const auto granted = [&](std::size_t i) { return locks_[i].grants > before[i]; };
    time_until([&] { return std::ranges::any_of(waited_for, granted); },
               removal_is_due - Clock::now());
    const auto took = duration_cast<microseconds>(Clock::now() - start);
    std::erase_if(waited_for, [&](std::size_t i) {
      if (!granted(i)) return false;
      if (!first) {
        first = took;
        report_.stalls += took > 1s;
      }
      report_.longest[i] = std::max(report_.longest[i], took);
      report_.blocked += took - *first > 1s;
      return true;
    });
    if (Clock::now() < removal_is_due) continue;
    if (std::exchange(connection, client_.session().connection) != connection) {
      // The server has ended the connection as well, so the time counts from the new connection.
      start = Clock::now();
      first.reset();
      removal_is_due = start + 2 * settings_.session_timeout;
      continue;
    }
    for (const std::size_t i : waited_for) remove_first_in_line(locks_[i]);
    removal_is_due += 1s;
  }
  report_.granted.push_back(duration_cast<microseconds>(Clock::now() - start));
}

void CutStorm::remove_first_in_line(Lock& lock) {
  try {
    const auto line = InterProcessMutex{observer_, lock.path}.participants();
    if (line.empty()) return;
    const bool is_ours = line.front().session == client_.session().id;
    observer_.remove(line.front().node, {.missing = Missing::is_fine});
    report_.removed.push_back(line.front().node +
                              (is_ours ? " of this session" : " of another one"));
  } catch (const Error&) {
    // The server does not answer. The next try comes when this lock's removal is due again.
  }
}

void CutStorm::look_for_orphans() {
  std::vector<std::string> left;
  time_until(
      [&] {
        left.clear();
        for (const Lock& lock : locks_) {
          for (const std::string& name : names_below(observer_, lock.path))
            left.push_back(lock.path + "/" + name);
        }
        return left.empty();
      },
      2 * settings_.session_timeout);
  report_.orphans = left;
}

std::ostream& operator<<(std::ostream& out, const CutStormReport& report) {
  out << report.cuts << " cuts, " << report.grants << " grants, " << report.failures
      << " acquires failed, " << report.sessions << " session(s)";
  out << "; a connection again after " << Spread{report.healed} << ", each lock granted after "
      << Spread{report.granted} << " more; the longest without a grant, by lock:";
  for (const auto time : report.longest) out << ' ' << in_milliseconds(time) << " ms";
  out << "; stalls of all locks for more than a second: " << report.stalls
      << ", locks granted more than a second after another: " << report.blocked
      << ", removed by hand: " << report.removed.size() << ", orphans: " << report.orphans.size();
  constexpr std::size_t examples = 5;
  for (const auto& node : report.removed | std::views::take(examples))
    out << "\n  removed " << node;
  for (const auto& node : report.orphans | std::views::take(examples)) out << "\n  orphan " << node;
  return out;
}

}  // namespace custodian::tests
