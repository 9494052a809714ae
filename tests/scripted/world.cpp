#include "world.hpp"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "client/client_core.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

bool World::run_until_idle(Client& client) {
  const Deadline deadline{limit};
  const auto work = boost::asio::make_work_guard(context);
  const CorePtr core = client.core();
  while (!deadline.passed()) {
    // Client::load() would wait for the strand, which only this thread runs.
    const auto load = std::make_shared<std::optional<Session::Load>>();
    core->on_strand([core, load] {
      load->emplace(core->session().load());
      (*load)->operations += core->deletes().size();
    });
    if (!run_until([&] { return load->has_value(); })) return false;
    if ((*load)->operations == 0 && (*load)->watches == 0) return true;
    context.restart();
    context.run_one_for(std::chrono::milliseconds{1});
  }
  return false;
}

const std::vector<Fault>& all_faults() {
  static const std::vector<Fault> faults = [] {
    std::vector<Fault> all;
    for (const FaultKind kind : {FaultKind::fail_before, FaultKind::fail_after}) {
      for (const EarlierReplies earlier : {EarlierReplies::arrive, EarlierReplies::are_lost}) {
        for (const NextServer next : {NextServer::current, NextServer::lags_behind}) {
          all.push_back({.kind = kind, .earlier = earlier, .next_server = next});
        }
      }
    }
    all.push_back({.kind = FaultKind::fail_before, .next_watches = NextWatches::are_dropped});
    all.push_back({.kind = FaultKind::fail_after, .next_watches = NextWatches::are_dropped});
    all.push_back({.kind = FaultKind::disconnect});
    all.push_back({.kind = FaultKind::disconnect, .earlier = EarlierReplies::are_lost});
    all.push_back({.kind = FaultKind::expire_before});
    all.push_back({.kind = FaultKind::expire_before, .earlier = EarlierReplies::are_lost});
    all.push_back({.kind = FaultKind::expire_after});
    all.push_back({.kind = FaultKind::expire_after, .earlier = EarlierReplies::are_lost});
    all.push_back({.kind = FaultKind::delay, .turns = 5});
    all.push_back({.kind = FaultKind::throttle});
    return all;
  }();
  return faults;
}

std::vector<Fault> faults_and_late_ones() {
  std::vector<Fault> all = all_faults();
  for (const int later : {1, 2, 0}) {
    all.push_back({.kind = FaultKind::apply_late, .requests_later = later});
  }
  return all;
}

std::string describe(const Fault& fault) {
  std::string text{to_string(fault.kind)};
  if (fault.earlier == EarlierReplies::are_lost) text += ", earlier replies lost";
  if (fault.next_server == NextServer::lags_behind) text += ", then a server that lags";
  if (fault.next_watches == NextWatches::are_dropped) text += ", watches dropped";
  return text;
}

namespace {

/// One combination out of this many is played.
constexpr std::uint64_t one_in = 12;
/// One single fault out of this many is played.
constexpr std::size_t one_fault_in = 4;

std::uint64_t chosen_seed() {
  const char* chosen = std::getenv("CUSTODIAN_TEST_PLAYS");
  const std::string_view text = chosen == nullptr ? "" : chosen;
#ifndef CUSTODIAN_SANITIZED
  if (text.empty()) return 0;
#endif
  if (text == "all") return 0;
  std::uint64_t seed = 0;
  if (text.empty()) {
    seed = 1 + std::random_device{}() % 1'000'000;
  } else {
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, seed);
    if (parsed.ec != std::errc{} || parsed.ptr != end || seed == 0)
      throw std::invalid_argument{"CUSTODIAN_TEST_PLAYS is the seed of a sample, from 1, or all"};
  }
  std::cout << "of the faults one in " << one_fault_in << ", of the combinations one in " << one_in
            << ", CUSTODIAN_TEST_PLAYS=" << seed << '\n';
  return seed;
}

}  // namespace

std::uint64_t Sample::seed() {
  static const std::uint64_t seed = chosen_seed();
  return seed;
}

bool Sample::takes_next() { return seed() == 0 || random_() % one_in == 0; }

std::vector<Fault> sampled(std::vector<Fault> faults) {
  if (Sample::seed() == 0) return faults;
  static std::mt19937_64 random;
  static std::string drawn_for;
  std::string test_case = Catch::getResultCapture().getCurrentTestName();
  if (test_case != drawn_for) {
    random.seed(Sample::seed());
    drawn_for = std::move(test_case);
  }
  std::ranges::shuffle(faults, random);
  faults.resize((faults.size() + one_fault_in - 1) / one_fault_in);
  return faults;
}

}  // namespace custodian::tests
