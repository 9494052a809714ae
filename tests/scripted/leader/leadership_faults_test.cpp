// Elections with a fault at every request of one candidate, and its close at every request: it
// becomes the leader, loses that and leads again, hands the leadership on, and leaves nothing.

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <iostream>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_observer.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "scripted/lock_play.hpp"
#include "support/catch.hpp"

namespace custodian::tests::leadership_faults_test {

namespace {

namespace asio = boost::asio;

constexpr auto path = "/election";

/// The interface of LeaderLatch and LeaderSelector that this test needs.
class Candidate {
 public:
  Candidate() = default;
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
  virtual ~Candidate() = default;

  virtual void start() = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual bool leads() const = 0;
  /// The numbers of times that the candidate was notified of the begin and of the end of a
  /// leadership.
  int gained = 0;
  int ended = 0;
  /// The token of each term.
  std::vector<std::int64_t> tokens;
};

class LatchCandidate final : public Candidate {
 public:
  explicit LatchCandidate(const Client& client) : latch_{client, path} {
    listening_ = latch_.on_leadership([this](Leadership now) {
      if (now == Leadership::ended) return void(++ended);
      ++gained;
      if (const Lease leadership = latch_.leadership()) tokens.push_back(leadership.token().value);
    });
  }
  void start() override { latch_.start(); }
  void close() override { latch_.close(LeaderLatch::CloseMode::notify_leader); }
  [[nodiscard]] bool leads() const override { return latch_.has_leadership() && gained > ended; }

 private:
  LeaderLatch latch_;
  Subscription listening_;
};

/// A selector whose function is a coroutine that waits for the request to stop.
class SelectorCandidate final : public Candidate {
 public:
  explicit SelectorCandidate(const Client& client)
      : selector_{client,
                  path,
                  [this](Lease leadership, std::stop_token stop) -> asio::awaitable<void> {
                    return lead(this, std::move(leadership), std::move(stop));
                  },
                  {.requeue = LeaderSelectorOptions::Requeue::always}} {}
  void start() override { selector_.start(); }
  void close() override { selector_.close(); }
  [[nodiscard]] bool leads() const override { return selector_.has_leadership(); }

 private:
  // A raw pointer is safe: the world runs the coroutine to its end before the candidate is
  // destroyed.
  static asio::awaitable<void> lead(SelectorCandidate* self, Lease leadership,
                                    std::stop_token stop) {
    ++self->gained;
    self->tokens.push_back(leadership.token().value);
    asio::steady_timer timer{co_await asio::this_coro::executor,
                             std::chrono::steady_clock::time_point::max()};
    const std::stop_callback on_stop{stop, [&timer] { timer.cancel(); }};
    if (!stop.stop_requested()) co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    ++self->ended;
  }

  LeaderSelector selector_;
};

enum class Recipe { latch, selector };
enum class Incident { none, own_node_deleted, session_expires, path_wiped };

struct Close {
  CancelMoment moment = CancelMoment::request_sent;
  std::size_t at = 0;
};

struct Run {
  std::string fault;  ///< empty if all is well
  std::size_t steps = 0;
};

/// "other" leads first; "observed" is the candidate that meets the faults and the incident.
class Election {
 public:
  Election(Recipe recipe, Incident incident, const Faults& faults, std::optional<Close> close)
      : recipe_{recipe},
        incident_{incident},
        close_{close},
        plan_{std::make_shared<FaultsAt>("observed", faults)} {}

  Run run() {
    other_ = world_.client("other");
    client_ = world_.client("observed");
    first_ = candidate(*other_);
    observed_ = candidate(*client_);
    first_->start();
    if (!world_.run_until([this] { return first_->leads(); })) return {"nobody comes to lead"};
    plan_->submitted = close_at(CancelMoment::request_sent);
    plan_->replying = close_at(CancelMoment::before_reply);
    plan_->replied = close_at(CancelMoment::after_reply);
    world_.ensemble.set_fault_plan(plan_);

    observed_->start();
    // The leader's node is watched by that leader and by the waiter, which also watches its own.
    await("it does not wait", [this] { return closed_ || world_.ensemble.watches() >= 3; });
    if (first_->ended > 0) complain("the first leader is told of an end");
    first_->close();
    lead_once(0);
    const int before = observed_->gained;
    if (happen()) lead_once(before);
    hand_on();
    leave_nothing();
    result_.steps = plan_->steps();
    return result_;
  }

 private:
  [[nodiscard]] std::unique_ptr<Candidate> candidate(const Client& client) const {
    if (recipe_ == Recipe::latch) return std::make_unique<LatchCandidate>(client);
    return std::make_unique<SelectorCandidate>(client);
  }

  void complain(const std::string& what) {
    if (result_.fault.empty()) result_.fault = what;
  }
  void await(const std::string& otherwise, const std::function<bool()>& condition) {
    if (!world_.run_until(condition)) complain(otherwise);
  }

  std::function<void(std::size_t)> close_at(CancelMoment moment) {
    return [this, moment](std::size_t step) {
      if (!close_ || close_->moment != moment || close_->at != step) return;
      if (moment != CancelMoment::request_sent) return close_observed();
      asio::post(client_->get_executor(), [this] { close_observed(); });
    };
  }
  void close_observed() {
    closed_ = true;
    observed_->close();
  }

  [[nodiscard]] std::ptrdiff_t count_nodes(const std::string& owner) {
    const auto names = world_.ensemble.children(path);
    return std::ranges::count_if(names, [&](const std::string& name) {
      const auto read = world_.ensemble.operate(request::Get{std::string{path} + "/" + name});
      return read.data == owner;
    });
  }

  /// Waits until the observed candidate leads after `before` earlier terms.
  void lead_once(int before) {
    await("it does not come to lead",
          [this, before] { return closed_ || (observed_->gained > before && observed_->leads()); });
    if (closed_ || !result_.fault.empty()) return;
    if (first_->leads()) complain("two lead");
    if (!std::ranges::is_sorted(observed_->tokens, std::less_equal{})) {
      complain("a token that does not grow");
    }
  }

  /// Brings the incident about. Returns false if there is none.
  bool happen() {
    if (closed_ || !result_.fault.empty() || incident_ == Incident::none) return false;
    if (incident_ == Incident::session_expires) {
      world_.ensemble.expire(client_->session().id);
      return true;
    }
    for (const std::string& name : world_.ensemble.children(path)) {
      world_.remove(std::string{path} + "/" + name);
    }
    if (incident_ == Incident::path_wiped) world_.remove(path);
    return true;
  }

  /// Starts another candidate, which waits while the observed one leads, and then leads.
  void hand_on() {
    second_ = candidate(*other_);
    second_->start();
    await("another one does not stand", [this] { return count_nodes("other") > 0; });
    if (observed_->leads() && second_->leads()) complain("two lead");
    close_observed();
    // A selector leads until its function has ended, which may take time.
    if (recipe_ == Recipe::latch && observed_->leads()) complain("it leads though it is closed");
    await("the leadership is not handed on", [this] { return second_->leads(); });
    await("it is not told that it does not lead any more",
          [this] { return observed_->gained == observed_->ended; });
    second_->close();
  }

  void leave_nothing() {
    await("a node is left", [this] { return world_.ensemble.children(path).empty(); });
    if (!world_.run_until_idle(*client_)) complain("operations or watches are left");
    if (!world_.run_until_idle(*other_)) complain("operations or watches are left in the other");
    await("a function is not ended", [this] { return second_->gained == second_->ended; });
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    plan_->submitted = plan_->replying = plan_->replied = nullptr;
    observed_.reset();
    first_.reset();
    second_.reset();
    if (!world_.end(client_) || !world_.end(other_)) complain("something keeps a client alive");
  }

  const Recipe recipe_;
  const Incident incident_;
  const std::optional<Close> close_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  std::unique_ptr<Client> other_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Candidate> first_;
  std::unique_ptr<Candidate> observed_;
  std::unique_ptr<Candidate> second_;
  bool closed_ = false;
  Run result_;
};

Run hold(Recipe recipe, Incident incident, const Faults& faults = {},
         std::optional<Close> close = {}) {
  return Election{recipe, incident, faults, close}.run();
}

void check(const Run& run, const std::string& what) {
  if (!run.fault.empty()) FAIL_CHECK(what << ": " << run.fault);
}

void play_faults(Recipe recipe, Incident incident, const std::string& name) {
  const Run plain = hold(recipe, incident);
  check(plain, name);
  CHECK(plain.steps >= 4);
  std::size_t cases = 1;
  for (std::size_t at = 0; at < plain.steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      check(hold(recipe, incident, {{at, fault}}),
            name + ", request " + std::to_string(at) + ": " + describe(fault));
      ++cases;
    }
  }
  std::cout << "  " << cases << " cases: " << name << ", each fault at each request\n";
}

void play_closing(Recipe recipe, const std::string& name) {
  const std::size_t steps = hold(recipe, Incident::none).steps;
  std::size_t cases = 0;
  using enum CancelMoment;
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : {request_sent, before_reply, after_reply}) {
      const std::string what = name + ", closed at " + std::to_string(at);
      check(hold(recipe, Incident::none, {}, Close{moment, at}), what);
      ++cases;
      for (std::size_t fault_at = 0; fault_at < steps; ++fault_at) {
        for (const Fault& fault : sampled(all_faults())) {
          check(hold(recipe, Incident::none, {{fault_at, fault}}, Close{moment, at}),
                what + "; request " + std::to_string(fault_at) + ": " + describe(fault));
          ++cases;
        }
      }
    }
  }
  std::cout << "  " << cases << " cases: " << name << ", closed at each moment\n";
}

TEST_CASE("leadership: a latch leads, and hands on, through every fault", "[leadership]") {
  play_faults(Recipe::latch, Incident::none, "a latch");
}

TEST_CASE("leadership: a latch leads again after each kind of loss, through every fault",
          "[leadership]") {
  play_faults(Recipe::latch, Incident::own_node_deleted, "a latch, its node deleted");
  play_faults(Recipe::latch, Incident::path_wiped, "a latch, its path deleted");
  play_faults(Recipe::latch, Incident::session_expires, "a latch, its session over");
}

TEST_CASE("leadership: a latch that is closed at any moment leaves nothing, beside every fault",
          "[leadership]") {
  play_closing(Recipe::latch, "a latch");
}

TEST_CASE("leadership: a selector leads, and hands on, through every fault", "[leadership]") {
  play_faults(Recipe::selector, Incident::none, "a selector");
}

TEST_CASE("leadership: a selector leads again after each kind of loss, through every fault",
          "[leadership]") {
  play_faults(Recipe::selector, Incident::own_node_deleted, "a selector, its node deleted");
  play_faults(Recipe::selector, Incident::path_wiped, "a selector, its path deleted");
  play_faults(Recipe::selector, Incident::session_expires, "a selector, its session over");
}

TEST_CASE("leadership: a selector that is closed at any moment leaves nothing, beside every fault",
          "[leadership]") {
  play_closing(Recipe::selector, "a selector");
}

/// The leaders that an observer sees while three candidates come and go, with a fault at a request.
struct Stream {
  std::string fault{};
  std::size_t steps = 0;
};

Stream observe(const Faults& faults) {
  Stream result;
  const auto complain = [&](const std::string& what) {
    if (result.fault.empty()) result.fault = what;
  };
  World world;
  auto candidates = world.client("candidates");
  auto client = world.client("observed");
  const auto plan = std::make_shared<FaultsAt>("observed", faults);
  {
    world.ensemble.set_fault_plan(plan);
    LeaderObserver observer{*client, path};
    const auto next = [&] {
      Outcome<std::optional<Participant>> outcome;
      observer.async_next(outcome.handler());
      return outcome;
    };
    auto first = next();
    if (!world.run_until_arrived(first)) return {"it does not say that nobody leads"};
    if (first.error() || first.result()) complain("somebody leads before anybody has come");
    std::int64_t latest = 0;
    for (int term = 0; term < 3; ++term) {
      LatchCandidate candidate{*candidates};
      auto coming = next();
      candidate.start();
      if (!world.run_until_arrived(coming)) return {"it does not show a leader"};
      if (coming.error()) return {"it ends with " + coming.error().message()};
      if (!coming.result()) return {"it shows that nobody leads, twice"};
      if (coming.result()->token.value <= latest) complain("it shows an earlier leader");
      latest = coming.result()->token.value;
      world.run_until([&] { return candidate.leads(); });
      if (candidate.tokens.empty() || candidate.tokens.front() != latest) {
        complain("it shows somebody else");
      }
      auto going = next();
      candidate.close();
      if (!world.run_until_arrived(going)) return {"it does not show that nobody leads"};
      if (going.error() || going.result()) complain("it shows somebody where nobody is");
      world.run_until([&] { return candidate.gained == candidate.ended; });
    }
    Outcome<std::optional<Participant>> last = next();
    if (!world.run_until_idle(*candidates)) complain("operations of the candidates are left");
    const auto closed = run<bool>(
        world, [&](auto done) { client->async_close(Deadline{std::chrono::seconds{1}}, done); });
    if (!closed.arrived()) complain("its client does not close");
    if (!world.run_until_arrived(last))
      complain("it outlives its client");
    else if (last.error() != Errc::closed)
      complain("it ends with " + last.error().message());
  }
  if (!world.end(client) || !world.end(candidates)) complain("something keeps a client alive");
  result.steps = plan->steps();
  return result;
}

TEST_CASE("leadership: an observer shows every leader in order, through every fault",
          "[leadership]") {
  const Stream plain = observe({});
  REQUIRE(plain.fault == "");
  std::size_t cases = 1;
  for (std::size_t at = 0; at < plain.steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) {
      const Stream stream = observe({{at, fault}});
      if (!stream.fault.empty()) {
        FAIL_CHECK("request " << at << ": " << describe(fault) << ": " << stream.fault);
      }
      ++cases;
    }
  }
  std::cout << "  " << cases << " cases: an observer, each fault at each request\n";
}

}  // namespace
}  // namespace custodian::tests::leadership_faults_test
