// Answers that servers seldom give, and that come at a bad time.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include "client/client_core.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/operations.hpp"
#include "scripted/enough_time.hpp"
#include "scripted/passing_session.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::unusual_answers_test {
namespace {

namespace asio = boost::asio;

/// The answers that a test gives in place of the servers.
using Instead = std::function<std::optional<Reply>(const Request&)>;

/// A session that lets a test answer its requests, and passes everything else on.
class Answering final : public PassingSession {
 public:
  Answering(asio::any_io_executor strand, std::shared_ptr<Session> session,
            std::shared_ptr<Instead> instead)
      : PassingSession{std::move(session)},
        strand_{std::move(strand)},
        instead_{std::move(instead)} {}

  void submit(Request request, ReplyHandler handler) override {
    std::optional<Reply> reply;
    if (*instead_) reply = (*instead_)(request);
    if (!reply) return PassingSession::submit(std::move(request), std::move(handler));
    asio::post(strand_, [handler = std::move(handler), reply = std::move(*reply)]() mutable {
      std::move(handler)(std::move(reply));
    });
  }

 private:
  const asio::any_io_executor strand_;
  const std::shared_ptr<Instead> instead_;
};

Reply failed(error_code error) {
  Reply reply;
  reply.error = error;
  return reply;
}

struct Fixture {
  Fixture() {
    client = world.client(options());
    world.ensemble.clear_history();
  }
  ~Fixture() {
    *instead = nullptr;
    world.ensemble.set_fault_plan(nullptr);
    if (client) CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  [[nodiscard]] ClientOptions options() {
    ClientOptions options = world.options("observed");
    options.session_factory = [make = options.session_factory, instead = instead](
                                  auto strand, SessionSettings settings, auto observer) {
      return std::make_shared<Answering>(strand, make(strand, std::move(settings), observer),
                                         instead);
    };
    return options;
  }
  std::shared_ptr<FaultsAt> fail_at(Faults faults) {
    auto plan = std::make_shared<FaultsAt>("observed", std::move(faults));
    world.ensemble.set_fault_plan(plan);
    return plan;
  }
  /// The kinds of the requests so far.
  [[nodiscard]] std::string sent() const {
    std::string kinds;
    for (const auto& each : world.ensemble.history()) kinds += each.kind + " ";
    return kinds;
  }

  World world;
  const std::shared_ptr<Instead> instead = std::make_shared<Instead>();
  std::unique_ptr<Client> client;
};

TEST_CASE("a write that servers refuse since its session is elsewhere, or over, is repeated") {
  for (const ServerErrc refusal : {ServerErrc::session_moved, ServerErrc::session_expired}) {
    Fixture fixture;
    fixture.world.make("/node");
    int answers = 0;
    *fixture.instead = [&](const Request& request) -> std::optional<Reply> {
      if (!std::holds_alternative<request::Set>(request) || answers++ > 0) return std::nullopt;
      return failed(refusal);
    };
    const auto set = run<Stat>(
        fixture.world, [&](auto done) { fixture.client->async_set("/node", "1", {}, done); });
    REQUIRE(set.arrived());
    CHECK_FALSE(set.error());
    CHECK(set.result().version == 1);
    CHECK(answers == 2);
  }
}

CreateOptions protected_create(CreateMode mode) {
  return {.mode = mode, .protection = Protection::by_unique_name};
}

/// A protected create below /p that its caller gives up while it is under way, and whose reply is
/// lost then.
struct GivenUp : Fixture {
  GivenUp(CreateMode mode, Faults faults) {
    world.make("/p");
    world.ensemble.clear_history();
    plan = fail_at(std::move(faults));
    plan->submitted = [this](std::size_t step) {
      if (step == 0) {
        asio::post(world.context, [this] { signal.emit(asio::cancellation_type::terminal); });
      }
      if (at_step) at_step(step);
    };
    client->async_create("/p/n-", "", protected_create(mode),
                         asio::bind_cancellation_slot(signal.slot(), created.handler()));
  }
  ~GivenUp() { plan->submitted = nullptr; }
  GivenUp(const GivenUp&) = delete;
  GivenUp& operator=(const GivenUp&) = delete;

  asio::cancellation_signal signal;
  Outcome<Created> created;
  std::function<void(std::size_t)> at_step;
  std::shared_ptr<FaultsAt> plan;
};

TEST_CASE(
    "a node that is not wanted any more is looked for again if the look and the write before "
    "it had different connections") {
  for (const CreateMode mode : {CreateMode::ephemeral, CreateMode::ephemeral_sequential}) {
    GivenUp scene{mode,
                  {{0, {.kind = FaultKind::apply_late}}, {2, {.kind = FaultKind::disconnect}}}};
    // 0 is the create, 1 the write, 2 and 3 are the look, and 4 is the next write.
    scene.at_step = [&](std::size_t step) {
      if (step == 4) scene.world.ensemble.apply_late_requests();
    };
    REQUIRE(scene.world.run_until_arrived(scene.created));
    CHECK(scene.created.error() == asio::error::operation_aborted);
    CHECK(scene.world.run_until([&] { return scene.plan->steps() >= 7; }));
    CHECK(scene.world.run_until_idle(*scene.client));
    CHECK(scene.sent() == (is_sequential(mode)
                               ? "create multi children children multi children remove "
                               : "create multi exists exists multi exists remove "));
    CHECK(scene.world.ensemble.children("/p").empty());
  }
}

TEST_CASE("a listing that is forbidden ends no session for a node that no session owns") {
  GivenUp scene{CreateMode::persistent_sequential, {{0, {.kind = FaultKind::fail_after}}}};
  const std::int64_t session = scene.client->session().id;
  scene.at_step = [&](std::size_t step) {
    if (step == 2) scene.world.ensemble.refuse("/p");
  };
  CHECK(scene.world.run_until([&] { return scene.plan->steps() >= 3; }));
  CHECK(scene.world.run_until_idle(*scene.client));
  scene.world.settle();
  CHECK(scene.client->session().id == session);
  CHECK(is_connected(scene.client->connection_state()));
}

TEST_CASE("a listing that is forbidden to a later session does not end that session") {
  GivenUp scene{CreateMode::ephemeral_sequential,
                {{0, {.kind = FaultKind::fail_after}}, {2, {.kind = FaultKind::expire_before}}}};
  int losses = 0;
  const Subscription subscription = scene.client->on_connection_state([&](ConnectionState state) {
    if (state == ConnectionState::lost) ++losses;
  });
  scene.at_step = [&](std::size_t step) {
    if (step == 2) scene.world.ensemble.refuse("/p");
  };
  CHECK(scene.world.run_until([&] { return scene.plan->steps() >= 5; }));
  CHECK(scene.world.run_until_idle(*scene.client));
  scene.world.settle();
  CHECK(losses == 1);
  CHECK(is_connected(scene.client->connection_state()));
}

TEST_CASE("a write that no quorum has decided does not come before a look") {
  GivenUp scene{CreateMode::ephemeral_sequential, {{0, {.kind = FaultKind::fail_after}}}};
  int answers = 0;
  *scene.instead = [&](const Request& request) -> std::optional<Reply> {
    if (!std::holds_alternative<request::Multi>(request) || answers++ > 0) return std::nullopt;
    return failed(ServerErrc::no_auth);
  };
  CHECK(scene.world.run_until([&] { return scene.plan->steps() >= 3; }));
  CHECK(scene.world.run_until_idle(*scene.client));
  CHECK(scene.sent().starts_with("create multi children "));
}

/// Creates a node within a time that ends while a request is under way: that behind the last fault.
void check_unknown(const Faults& faults, const std::string& path, CreateOptions options) {
  play_with_enough_time(std::chrono::milliseconds{200}, [&](std::chrono::milliseconds time) {
    Fixture fixture;
    const auto plan = fixture.fail_at(faults);
    options.deadline = time;
    Outcome<Created> created;
    fixture.client->async_create(path, "", options, created.handler());
    fixture.world.run_until_arrived(created);
    REQUIRE(created.arrived());
    const bool was_sent = plan->steps() > faults.back().first;
    fixture.world.ensemble.set_fault_plan(nullptr);
    fixture.world.ensemble.release_replies();
    CHECK(fixture.world.run_until_idle(*fixture.client));
    if (was_sent) CHECK(created.error() == Errc::deadline_exceeded_outcome_unknown);
    return was_sent;
  });
}

TEST_CASE("a create whose time ends while a request is under way has an unknown outcome") {
  const Fault held{.kind = FaultKind::delay};
  const Fault lost{.kind = FaultKind::fail_before};
  check_unknown({{1, held}}, "/q/n", {.parents = Parents::created_as_containers});
  const CreateOptions kept = protected_create(CreateMode::ephemeral);
  check_unknown({{0, held}}, "/n", kept);
  check_unknown({{0, lost}, {1, held}}, "/n", kept);
}

TEST_CASE("a tree is removed though another process removes a part of it meanwhile") {
  Fixture fixture;
  for (const char* path : {"/t", "/t/a", "/t/b"}) fixture.world.make(path);
  fixture.world.ensemble.clear_history();
  const auto plan = fixture.fail_at({});
  plan->submitted = [&](std::size_t step) {
    // 0 removes /t, 1 lists it, and 2 removes /t/a.
    if (step == 2) fixture.world.remove("/t/a");
  };
  const auto removed = run(fixture.world, [&](auto done) {
    fixture.client->async_remove("/t", {.descendants = Descendants::are_removed}, done);
  });
  REQUIRE(removed.arrived());
  CHECK_FALSE(removed.error());
  CHECK_FALSE(fixture.world.ensemble.exists("/t"));
}

TEST_CASE("a delete in the background of a node with children is tried once") {
  Fixture fixture;
  fixture.world.make("/node");
  fixture.world.make("/node/child");
  fixture.client->remove_in_background("/node");
  CHECK(fixture.world.run_until_idle(*fixture.client));
  CHECK(fixture.sent() == "remove ");
  CHECK(fixture.world.ensemble.exists("/node"));
}

TEST_CASE("a delete that is too large with the check of its successor goes without it") {
  Fixture fixture;
  fixture.world.make("/mine");
  fixture.world.make("/next");
  int multis = 0;
  *fixture.instead = [&](const Request& request) -> std::optional<Reply> {
    if (!std::holds_alternative<request::Multi>(request)) return std::nullopt;
    ++multis;
    return failed(Errc::request_too_large);
  };
  const auto next = std::make_shared<detail::QueuedNode>();
  next->path = "/next";
  const auto own = std::make_shared<detail::QueuedNode>();
  own->path = "/mine";
  own->left = true;
  own->successor = next;
  const CorePtr core = fixture.client->core();
  core->on_strand([core, own] { core->deletes().add("/mine", 0, nullptr, own); });
  CHECK(fixture.world.run_until([&] { return !fixture.world.ensemble.exists("/mine"); }));
  CHECK(multis == 1);
}

/// An upsert whose create is lost, and whose look at the node then ends in another way.
error_code end_of_upsert(const std::function<void(Fixture&, asio::cancellation_signal&)>& at_look) {
  Fixture fixture;
  asio::cancellation_signal signal;
  const auto plan =
      fixture.fail_at({{1, {.kind = FaultKind::fail_after}}, {3, {.kind = FaultKind::delay}}});
  plan->submitted = [&](std::size_t step) {
    if (step == 3) asio::post(fixture.world.context, [&] { at_look(fixture, signal); });
  };
  Outcome<Upserted> ended;
  fixture.client->async_upsert("/n", "1", {},
                               asio::bind_cancellation_slot(signal.slot(), ended.handler()));
  fixture.world.run_until_arrived(ended);
  CHECK(fixture.sent().starts_with("set create create get "));
  fixture.world.ensemble.release_replies();
  if (!fixture.client) fixture.world.settle();
  REQUIRE(ended.arrived());
  return ended.error();
}

TEST_CASE("an upsert that is given up, or whose client is closed, while it looks says so") {
  CHECK(end_of_upsert([](Fixture&, asio::cancellation_signal& signal) {
          signal.emit(asio::cancellation_type::terminal);
        }) == asio::error::operation_aborted);
  CHECK(end_of_upsert([](Fixture& fixture, asio::cancellation_signal&) {
          fixture.client.reset();
        }) == Errc::closed);
}

TEST_CASE("a transaction that no server has worked on names none of its operations") {
  for (const ServerErrc refusal : {ServerErrc::session_expired, ServerErrc::auth_failed}) {
    World world;
    ClientOptions options = world.options("observed");
    const auto instead = std::make_shared<Instead>([&](const Request& request) {
      if (!std::holds_alternative<request::Multi>(request)) return std::optional<Reply>{};
      Reply reply = failed(refusal);
      reply.results.emplace_back().error = refusal;
      return std::optional{std::move(reply)};
    });
    options.session_factory = [make = options.session_factory, instead](
                                  auto strand, SessionSettings settings, auto observer) {
      return std::make_shared<Answering>(strand, make(strand, std::move(settings), observer),
                                         instead);
    };
    Client client{options};
    client.wait_connected();
    std::string text;
    try {
      client.commit({create("/a")}, {.retry = RetryPolicy::none()});
    } catch (const Error& error) {
      text = error.what();
      CHECK(error.code() == refusal);
    }
    CHECK_FALSE(text.empty());
    CHECK(text.find("operation 1 of 1") == std::string::npos);
  }
}

TEST_CASE("a reason that a caller gives is not replaced by one about the connection") {
  Fixture fixture;
  const auto text = [&](std::string_view why) {
    try {
      throw_if(*fixture.client->core(), Errc::deadline_exceeded, "wait", "/p", why);
    } catch (const Error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(text("the door is shut").find("the door is shut") != std::string::npos);
  CHECK(text("").find("did not come in time") != std::string::npos);
  fixture.world.ensemble.stop();
  REQUIRE(fixture.world.run_until(
      [&] { return fixture.client->connection_state() == ConnectionState::suspended; }));
  CHECK(text("the door is shut").find("the door is shut") != std::string::npos);
  CHECK(text("").find("no connection to") != std::string::npos);
  fixture.world.ensemble.start();
}

}  // namespace
}  // namespace custodian::tests::unusual_answers_test
