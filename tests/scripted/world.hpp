#pragma once

/// \file
/// World is a fake ensemble and its clients, all on one executor that the test's thread runs: so
/// the steps between two requests are always the same, and no time is lost.

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/testing/fake_ensemble.hpp"

namespace custodian::tests {

using testing::EarlierReplies;
using testing::Fault;
using testing::FaultKind;
using testing::NextServer;
using testing::NextWatches;
using testing::Submission;

/// A time limit that is to pass in a test, but not before the call begins: an acquire would then
/// only try once, and an operation would never be sent. A busy machine may suspend a thread for 5
/// ms, so the limit is longer than that.
inline constexpr std::chrono::milliseconds brief_limit{30};

/// The outcome of an asynchronous operation, once it has one.
template <typename... Results>
class Outcome {
 public:
  [[nodiscard]] auto handler() const {
    return [value = value_](error_code error, Results... results) {
      value->emplace(error, std::move(results)...);
    };
  }
  [[nodiscard]] bool arrived() const { return value_->has_value(); }
  [[nodiscard]] error_code error() const { return std::get<0>(**value_); }
  template <std::size_t Index = 1>
  [[nodiscard]] auto& result() const {
    return std::get<Index>(**value_);
  }

 private:
  std::shared_ptr<std::optional<std::tuple<error_code, Results...>>> value_ =
      std::make_shared<std::optional<std::tuple<error_code, Results...>>>();
};

class World {
 public:
  /// The time limit of a run, much longer than a run takes: it passes only if the run fails.
  static constexpr std::chrono::seconds limit{20};

  explicit World(std::chrono::milliseconds longest_lag = std::chrono::milliseconds{5})
      : ensemble{testing::FakeEnsembleOptions{.reconnect_pause = std::chrono::milliseconds{0},
                                              .longest_lag = longest_lag}} {}
  /// A world in which time passes only when the test says so.
  explicit World(std::shared_ptr<testing::FakeClock> clock)
      : ensemble{testing::FakeEnsembleOptions{.clock = std::move(clock)}} {}
  virtual ~World() = default;

  [[nodiscard]] ClientOptions options(const std::string& name) {
    ClientOptions options = ensemble.options(name);
    options.retry = RetryPolicy::exponential_backoff(std::chrono::milliseconds{1},
                                                     std::chrono::milliseconds{2}, 20);
    options.operation_timeout = limit;
    // A long session keeps beats away from the requests that a test counts.
    options.session_timeout = std::chrono::hours{1};
    options.identity = name;
    return options;
  }
  [[nodiscard]] std::unique_ptr<Client> client(const std::string& name) {
    return client(options(name));
  }
  [[nodiscard]] virtual std::unique_ptr<Client> client(ClientOptions options) {
    auto client = std::make_unique<Client>(context.get_executor(), std::move(options));
    run_until([&] { return is_connected(client->connection_state()); });
    return client;
  }

  /// A client that counts the nodes that it takes for those of late creates. Where no create is
  /// late, it must find none: each create deletes its own leftovers.
  [[nodiscard]] std::unique_ptr<Client> client_that_counts_strays(const std::string& name) {
    ClientOptions counting = options(name);
    counting.log = [this](LogLevel, std::string_view message) {
      if (message.find("came late") != std::string_view::npos) ++strays;
    };
    return client(std::move(counting));
  }

  /// Runs the executor until the condition is true. Returns false at the time limit, or if no work
  /// is left that could make the condition true.
  bool run_until(const std::function<bool()>& condition) {
    const Deadline deadline{limit};
    while (!condition()) {
      if (deadline.passed()) return false;
      context.restart();
      if (context.run_one_for(deadline.remaining()) == 0) return condition();
    }
    return true;
  }
  template <typename... Results>
  bool run_until_arrived(const Outcome<Results...>& outcome) {
    return run_until([&] { return outcome.arrived(); });
  }
  /// Runs what is due now.
  void settle() {
    context.restart();
    context.poll();
  }

  /// Runs for `time`, whether anything is due or not.
  void run_for(std::chrono::milliseconds time) {
    context.restart();
    context.run_for(time);
  }

  /// Destroys a client, and runs until its core is gone. Returns false if something keeps the core
  /// alive.
  bool end(std::unique_ptr<Client>& client) {
    const std::weak_ptr<detail::ClientCore> core = client->core();
    client.reset();
    return run_until([&] { return core.expired(); });
  }

  /// Runs until a client has neither requests nor watches nor deletes under way.
  bool run_until_idle(Client& client);

  // These functions do what an operator would.
  void make(const std::string& path, std::string data = {}) {
    ensemble.operate(request::Create{.path = path, .data = std::move(data), .acl = open_acl()});
  }
  void remove(const std::string& path) { ensemble.operate(request::Remove{path}); }

  std::size_t strays = 0;
  testing::FakeEnsemble ensemble;
  boost::asio::io_context context{1};
};

/// Faults at certain requests, counted from 0.
using Faults = std::vector<std::pair<std::size_t, Fault>>;

/// Runs an operation to its end and returns its outcome: `run<GetResult>(world, [&](auto done)
/// {...})`.
template <typename... Results, typename Start>
[[nodiscard]] Outcome<Results...> run(World& world, Start start) {
  Outcome<Results...> outcome;
  start(outcome.handler());
  world.run_until_arrived(outcome);
  return outcome;
}

/// Injects faults at certain requests of one client, and counts all its requests.
class FaultsAt final : public testing::FaultPlan {
 public:
  explicit FaultsAt(std::string client) : client_{std::move(client)} {}
  FaultsAt(std::string client, Faults faults)
      : client_{std::move(client)}, faults_{std::move(faults)} {}

  Fault on_submit(const Submission& submission) override {
    if (submission.client != client_) return {};
    const std::size_t step = steps_++;
    if (submitted) submitted(step);
    for (const auto& [at, fault] : faults_) {
      if (at == step) return fault;
    }
    return {};
  }
  void before_reply(const Submission& submission, const Reply&) override {
    if (submission.client == client_ && replying) replying(replies_++);
  }
  void after_reply(const Submission& submission) override {
    if (submission.client == client_ && replied) replied(answered_++);
  }

  [[nodiscard]] std::size_t steps() const { return steps_; }

  std::function<void(std::size_t step)> submitted;
  std::function<void(std::size_t reply)> replying;
  std::function<void(std::size_t reply)> replied;

 private:
  const std::string client_;
  const Faults faults_;
  std::size_t steps_ = 0;
  std::size_t replies_ = 0;
  std::size_t answered_ = 0;
};

/// A fault of each kind; of those that cut connections, one of each variety.
[[nodiscard]] const std::vector<Fault>& all_faults();
/// all_faults(), and requests that are applied one or two requests later, or by
/// apply_late_requests().
[[nodiscard]] std::vector<Fault> faults_and_late_ones();
[[nodiscard]] std::string describe(const Fault& fault);

/// Selects which combinations of a fault with another fault, or with a cancellation, are played.
/// Without a sanitizer all of them are. Under a sanitizer each takes five times as long, and memory
/// is checked rather than the order of steps: there one in twelve is played, drawn at random. The
/// seed is printed; CUSTODIAN_TEST_PLAYS=<seed> draws the same combinations in any build, and
/// CUSTODIAN_TEST_PLAYS=all plays all of them.
class Sample {
 public:
  /// Returns whether the next combination is played.
  [[nodiscard]] bool takes_next();

  /// The seed of the draw; 0 if all combinations are played.
  [[nodiscard]] static std::uint64_t seed();

 private:
  std::mt19937_64 random_{seed()};
};

/// Returns the faults that a request is played with: all of `faults` or, where Sample plays only a
/// part, a quarter of them, drawn anew at each call. With the same seed a test case draws the same
/// faults.
[[nodiscard]] std::vector<Fault> sampled(std::vector<Fault> faults);

}  // namespace custodian::tests
