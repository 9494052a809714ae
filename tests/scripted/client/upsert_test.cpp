// Upserts without faults, and with another process in between.

#include <boost/asio/post.hpp>

#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::upsert_test {
namespace {

using Kinds = std::vector<std::string>;

class Upserting {
 public:
  explicit Upserting(ClientOptions (*change)(ClientOptions) = nullptr)
      : client{world.client(change ? change(world.options("mine")) : world.options("mine"))} {
    world.ensemble.clear_history();
  }

  Outcome<Upserted> upsert(std::string path, std::string data, UpsertOptions options = {}) {
    return run<Upserted>(world, [&](auto done) {
      client->async_upsert(std::move(path), std::move(data), std::move(options), done);
    });
  }
  [[nodiscard]] GetResult there(const std::string& path) {
    const Reply reply = world.ensemble.operate(request::Get{path});
    REQUIRE_FALSE(reply.error);
    return {reply.data, reply.stat};
  }
  /// The kinds of requests so far.
  [[nodiscard]] Kinds asked() const {
    Kinds kinds;
    for (const auto& each : world.ensemble.history()) kinds.emplace_back(each.kind);
    return kinds;
  }
  /// Does something behind each request of this number.
  void behind(std::size_t number, std::function<void()> act) {
    const auto plan = std::make_shared<FaultsAt>("mine");
    plan->replying = [number, act = std::move(act)](std::size_t reply) {
      if (reply == number) act();
    };
    world.ensemble.set_fault_plan(plan);
  }

  EndingWorld world;
  std::unique_ptr<Client> client;
};

TEST_CASE("upsert: a node that exists is written by one request, and keeps its kind") {
  Upserting with;
  with.world.make("/n", "old");
  with.world.ensemble.clear_history();
  const auto ended = with.upsert("/n", "new", {.mode = CreateMode::container});
  REQUIRE(ended.arrived());
  REQUIRE_FALSE(ended.error());
  CHECK_FALSE(ended.result().created);
  CHECK(with.asked() == Kinds{"set"});
  const GetResult now = with.there("/n");
  CHECK(now.data == "new");
  CHECK(now.stat == ended.result().stat);
  CHECK(now.stat.version == 1);
}

TEST_CASE("upsert: a node that does not exist is created, with its parents if that is asked for") {
  Upserting with;
  const auto refused = with.upsert("/p/n", "first");
  REQUIRE(refused.arrived());
  CHECK(refused.error() == ServerErrc::no_node);
  CHECK_FALSE(with.world.ensemble.exists("/p"));
  const auto ended = with.upsert("/p/n", "first", {.parents = Parents::created_as_containers});
  REQUIRE(ended.arrived());
  REQUIRE_FALSE(ended.error());
  CHECK(ended.result().created);
  CHECK(with.there("/p/n").data == "first");
  CHECK(with.there("/p/n").stat == ended.result().stat);
  with.world.ensemble.clear_history();
  const auto first = with.upsert("/m", "first");
  REQUIRE(first.arrived());
  CHECK(first.result().created);
  CHECK(with.asked() == Kinds{"set", "create"});
}

TEST_CASE("upsert: a node that another process creates in between is written") {
  Upserting with;
  with.behind(0, [&] { with.world.make("/n", "another's"); });
  const auto ended = with.upsert("/n", "mine");
  REQUIRE(ended.arrived());
  REQUIRE_FALSE(ended.error());
  CHECK_FALSE(ended.result().created);
  CHECK(with.there("/n").data == "mine");
  CHECK(with.there("/n").stat.version == 1);
}

TEST_CASE("upsert: the same data of another process in between are written again") {
  // No create was lost, so the node is another's.
  Upserting with;
  with.behind(0, [&] { with.world.make("/n", "mine"); });
  const auto ended = with.upsert("/n", "mine");
  REQUIRE(ended.arrived());
  CHECK_FALSE(ended.result().created);
  CHECK(with.there("/n").stat.version == 1);
}

TEST_CASE("upsert: a node that comes and goes in between is created in the end") {
  Upserting with;
  const auto plan = std::make_shared<FaultsAt>("mine");
  plan->replying = [&](std::size_t reply) {
    if (reply == 0) with.world.make("/n", "another's");
    if (reply == 1) with.world.remove("/n");
  };
  with.world.ensemble.set_fault_plan(plan);
  const auto ended = with.upsert("/n", "mine");
  REQUIRE(ended.arrived());
  REQUIRE_FALSE(ended.error());
  CHECK(ended.result().created);
  CHECK(with.there("/n").data == "mine");
  CHECK(with.asked() == Kinds{"set", "create", "set", "create"});
}

TEST_CASE("upsert: what the servers refuse is the caller's error") {
  Upserting with;
  with.world.make("/n", "old");
  with.world.ensemble.refuse("/n");
  CHECK(with.upsert("/n", "new").error() == ServerErrc::no_auth);
  with.world.ensemble.permit("/n");
  CHECK(with.there("/n").data == "old");
}

TEST_CASE("upsert: the ACL provider chooses the ACL of a new node, or the options do") {
  Upserting with{[](ClientOptions options) {
    options.acl_provider = [](std::string_view path) {
      return path == "/n" ? read_acl() : open_acl();
    };
    return options;
  }};
  REQUIRE_FALSE(with.upsert("/n", "").error());
  CHECK(with.world.ensemble.operate(request::GetAcl{"/n"}).acl == read_acl());
  REQUIRE_FALSE(with.upsert("/m", "", {.acl = read_acl()}).error());
  CHECK(with.world.ensemble.operate(request::GetAcl{"/m"}).acl == read_acl());
}

TEST_CASE("upsert: wrong arguments are refused in the caller's thread") {
  Upserting with;
  const auto refuses = [&](const std::string& path, std::string data, UpsertOptions options) {
    try {
      static_cast<void>(with.upsert(path, std::move(data), std::move(options)));
    } catch (const Error& error) {
      return error.code() == Errc::invalid_argument && error.operation() == "upsert";
    }
    return false;
  };
  CHECK(refuses("n", "", {}));
  CHECK(refuses("/", "", {}));
  CHECK(refuses("/n", "", {.mode = CreateMode::ephemeral}));
  CHECK(refuses("/n", "", {.mode = CreateMode::persistent_sequential}));
  CHECK(refuses("/n", "", {.acl = Acl{}}));
  CHECK(refuses("/n", "", {.mode = CreateMode::persistent_with_ttl}));
  CHECK(refuses("/n", std::string(2'000'000, 'x'), {}));
  CHECK(with.asked().empty());
}

TEST_CASE("upsert: a client that is closed says so") {
  Upserting with;
  with.client->close();
  CHECK(with.upsert("/n", "").error() == Errc::closed);
}

}  // namespace
}  // namespace custodian::tests::upsert_test
