// The arguments that a client refuses when its servers, credentials or namespace are changed, and
// the TTLs that it accepts.

#include <functional>
#include <string>

#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::client_arguments_test {
namespace {

using namespace std::chrono_literals;
using Ms = std::chrono::milliseconds;

constexpr Ms longest_ttl{(std::int64_t{1} << 40) - 1};

/// A client of the namespace "/app".
struct Fixture {
  Fixture() {
    ClientOptions options = world.options("client");
    options.name_space = "app";
    world.make("/app");
    client = world.client(options);
  }
  ~Fixture() {
    CHECK(world.run_until_idle(*client));
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  World world;
  std::unique_ptr<Client> client;
};

/// Whether a call is not refused for its arguments.
bool passes(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    return false;
  }
}

TEST_CASE(
    "client arguments: the least and the longest TTL pass, and a sequential child of the root") {
  Fixture with;
  const auto created = [&](const std::string& path, const CreateOptions& options) {
    return run<Created>(with.world,
                        [&](auto done) { with.client->async_create(path, "", options, done); })
        .error();
  };
  using enum CreateMode;
  CHECK_FALSE(created("/a", {.mode = persistent_with_ttl, .ttl = 1ms}));
  CHECK_FALSE(created("/b", {.mode = persistent_with_ttl, .ttl = longest_ttl}));
  CHECK_FALSE(created("/", {.mode = persistent_sequential}));
  CHECK_FALSE(created("/a/", {.mode = persistent_sequential}));
}

TEST_CASE("client arguments: servers that are set later have no chroot, and no TLS that is new") {
  Fixture with;
  const auto refused = [&](const std::string& servers, const std::string& rule) {
    check_refused(
        [&] {
          with.client->set_servers(servers);
          return 0;
        },
        "set_servers", rule);
  };
  refused("zk1/app", "servers: a chroot cannot change while the client lives");
  refused("secure://zk1", "servers: a client that began without TLS cannot change to it");
  CHECK(passes([&] { with.client->set_servers("zk1"); }));
}

TEST_CASE("client arguments: credentials that are set later are checked") {
  Fixture with;
  const auto set = [&](std::string scheme, std::string value) {
    with.client->set_credentials({{"ip", ""}, {std::move(scheme), std::move(value)}});
    return 0;
  };
  check_refused([&] { return set("", "x"); }, "set_credentials", "credentials: a scheme is empty");
  check_refused([&] { return set("digest", "x"); }, "set_credentials",
                "credentials: a digest reads user:password");
  CHECK(passes([&] { set("digest", "x:"); }));
}

TEST_CASE("client arguments: a view's namespace is checked, and told") {
  Fixture with;
  CHECK(with.client->with_namespace("team").name_space() == "/team");
  check_refused([&] { return with.client->with_namespace("/team/"); }, "with_namespace",
                "name_space: must not end in '/', at byte 5");
}

}  // namespace
}  // namespace custodian::tests::client_arguments_test
