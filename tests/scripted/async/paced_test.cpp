// A failed operation is tried again at the pace of the client's retry policy: a recipe that goes on
// until the servers permit it does not flood them.

#include <algorithm>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <functional>
#include <memory>
#include <stdexcept>

#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/mirror/node_cache.hpp"
#include "custodian/nodes/persistent_node.hpp"
#include "custodian/nodes/persistent_ttl_node.hpp"
#include "custodian/shared/shared_value.hpp"
#include "ensembles/map_follower.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::paced_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto path = "/node";

/// Fails each request of a client.
class AllFail final : public testing::FaultPlan {
 public:
  explicit AllFail(FaultKind kind) : kind_{kind} {}

  Fault on_submit(const Submission& submission) override {
    return submission.client == "mine" ? Fault{.kind = kind_} : Fault{};
  }

 private:
  const FaultKind kind_;
};

struct Place {
  explicit Place(const RetryPolicy& retry)
      : client{world.client([&] {
          ClientOptions options = world.options("mine");
          options.retry = retry;
          return options;
        }())} {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    world.ensemble.set_fault_plan(nullptr);
    CHECK(world.end(client));
  }

  /// The servers refuse what is asked of a node.
  void refuse(const std::string& refused) {
    world.ensemble.clear_history();
    world.ensemble.refuse(refused);
  }
  /// No request of the client succeeds any more.
  void fail(FaultKind kind) {
    world.ensemble.clear_history();
    world.ensemble.set_fault_plan(std::make_shared<AllFail>(kind));
  }
  [[nodiscard]] std::size_t requests() const { return world.ensemble.history().size(); }
  /// The kinds of the requests that failed.
  [[nodiscard]] std::string sent() const {
    std::string kinds;
    for (const auto& each : world.ensemble.history()) {
      kinds += (kinds.empty() ? "" : " ") + each.kind;
    }
    return kinds;
  }

  World world;
  std::unique_ptr<Client> client;
};

/// Begins a recipe that goes on by itself for as long as the returned object lives, and whose
/// requests the servers refuse.
using Begin = std::function<std::shared_ptr<void>(Place&)>;

/// Begins the recipe with pauses that do not end, and then with pauses that double. `attempt` lists
/// the requests of one attempt.
void check_pace(const std::string& attempt, const Begin& begin) {
  {
    Place place{RetryPolicy::forever(1h)};
    const std::shared_ptr<void> going_on = begin(place);
    place.world.run_for(50ms);
    CHECK(place.sent() == attempt);
  }
  Place place{RetryPolicy::exponential_backoff(1ms, 1h, {})};
  const std::shared_ptr<void> going_on = begin(place);
  const auto of_one = static_cast<std::size_t>(std::ranges::count(attempt, ' ')) + 1;
  REQUIRE(place.world.run_until([&] { return place.requests() >= 3 * of_one; }));
  place.world.run_for(50ms);
  // The longest time of a test has room for twenty pauses, if each is twice as long as the previous
  // one.
  CHECK(place.requests() < 30 * of_one);
}

TEST_CASE("paced: a candidate that the servers refuse") {
  check_pace("create children", [](Place& place) {
    place.world.make(path);
    place.refuse(path);
    const auto latch = std::make_shared<LeaderLatch>(*place.client, path);
    latch->start();
    return latch;
  });
}

/// An executor that takes no work.
struct Refusing {
  asio::execution_context* context;

  [[nodiscard]] asio::execution_context& query(asio::execution::context_t) const {
    return *context;
  }
  [[nodiscard]] static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) {
    return asio::execution::blocking.never;
  }
  [[nodiscard]] Refusing require(asio::execution::blocking_t::never_t) const { return *this; }
  template <typename Function>
  void execute(const Function&) const {
    throw std::runtime_error{"no work is taken"};
  }
  friend bool operator==(const Refusing&, const Refusing&) noexcept = default;
};

TEST_CASE("paced: a leader whose executor refuses its function") {
  check_pace("create children get remove", [](Place& place) {
    place.world.make(path);
    place.world.ensemble.clear_history();
    LeaderSelectorOptions options;
    options.executor = Refusing{&place.world.context};
    options.requeue = LeaderSelectorOptions::Requeue::always;
    const auto selector = std::make_shared<LeaderSelector>(
        *place.client, path, [](const Lease&, const std::stop_token&) {}, options);
    selector->start();
    return selector;
  });
}

TEST_CASE("paced: a member of a moving map that may not read its copy") {
  check_pace("get", [](Place& place) {
    place.world.make(path);
    place.refuse(path);
    const auto copy = std::make_shared<const recipes_detail::CopyPlace>(recipes_detail::CopyPlace{
        .name = "east", .client = place.client->share(), .path = path, .member = "mine"});
    const auto follower =
        std::make_shared<recipes_detail::MapFollower>(std::vector{copy}, std::chrono::hours{1});
    follower->start();
    return follower;
  });
}

TEST_CASE("paced: a listener of a value that it may not read") {
  check_pace("get", [](Place& place) {
    place.world.make(path);
    place.refuse(path);
    const SharedValue value{*place.client, path};
    return std::make_shared<Subscription>(value.on_change([](const Versioned<std::string>&) {}));
  });
}

TEST_CASE("paced: a persistent node that may not be created") {
  check_pace("create", [](Place& place) {
    place.refuse("/");
    return std::make_shared<PersistentNode>(*place.client, path, "x");
  });
}

TEST_CASE("paced: a node with a time to live that may not be touched") {
  check_pace("set create", [](Place& place) {
    auto node = std::make_shared<PersistentTtlNode>(*place.client, path, 1h, "x");
    REQUIRE(place.world.run_until([&] { return place.world.ensemble.watches() == 1; }));
    place.refuse(path);
    return node;
  });
}

TEST_CASE("paced: a mirror that may not read its root") {
  check_pace("sync get exists", [](Place& place) {
    place.world.make(path);
    place.refuse(path);
    return std::make_shared<NodeCache>(*place.client, path);
  });
}

TEST_CASE("paced: a mirror whose read of the root fails") {
  check_pace("sync", [](Place& place) {
    place.world.make(path);
    place.fail(FaultKind::throttle);
    return std::make_shared<NodeCache>(*place.client, path);
  });
}

/// Begins an operation that ends with its client.
template <typename... Results, typename Start>
std::shared_ptr<void> begun(Start start) {
  const auto outcome = std::make_shared<Outcome<Results...>>();
  start(outcome->handler());
  return outcome;
}

TEST_CASE("paced: a client's operations, of which the servers want to hear later") {
  check_pace("create", [](Place& place) {
    place.fail(FaultKind::throttle);
    return begun<Created>([&](auto done) {
      place.client->async_create(path, "", {.deadline = Deadline::never()}, done);
    });
  });
  check_pace("set", [](Place& place) {
    place.fail(FaultKind::throttle);
    return begun<Upserted>([&](auto done) {
      place.client->async_upsert(path, "", {.deadline = Deadline::never()}, done);
    });
  });
  check_pace("get", [](Place& place) {
    place.fail(FaultKind::throttle);
    return begun<GetResult>(
        [&](auto done) { place.client->async_get(path, {.deadline = Deadline::never()}, done); });
  });
}

}  // namespace
}  // namespace custodian::tests::paced_test
