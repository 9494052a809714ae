#include "session/resolver.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>

#include "support/catch.hpp"
#include "unit/session/run_until.hpp"

namespace custodian::tests::resolver_test {
namespace {

namespace asio = boost::asio;
using detail::Address;
using detail::HostPort;
using detail::Resolver;
using detail::to_text;

/// A name that no name service is asked for, because its label is too long.
const std::string bad_name(64, 'a');
const std::string worse_name(65, 'b');

struct World {
  asio::io_context context{1};
  Resolver resolver{context.get_executor()};
  std::optional<Resolver::Result> result;

  void resolve(std::vector<HostPort> hosts) {
    result.reset();
    resolver.resolve(std::move(hosts), [this](Resolver::Result each) { result = std::move(each); });
  }
  Resolver::Result resolved(std::vector<HostPort> hosts) {
    resolve(std::move(hosts));
    run_until(context, [this] { return result.has_value(); });
    return *result;
  }
};

Address numeric(const std::string& host, unsigned short port) {
  return {{asio::ip::make_address(host), port}, {host}};
}

TEST_CASE("resolver: addresses are answered later, each once and in ascending order") {
  World world;
  world.resolve({{"10.0.0.2", 2182}, {"::1", 2181}, {"10.0.0.1", 2181}, {"10.0.0.2", 2182}});
  CHECK_FALSE(world.result);
  CHECK(world.resolver.busy());
  // No thread is needed: the answer is there when the strand runs.
  world.context.poll();
  REQUIRE(world.result);
  CHECK_FALSE(world.resolver.busy());
  CHECK(world.result->addresses ==
        std::vector{numeric("10.0.0.1", 2181), numeric("10.0.0.2", 2182), numeric("::1", 2181)});
  CHECK(world.result->failures.empty());
  CHECK(world.result->unresolved.empty());
}

TEST_CASE("resolver: the addresses of a name bear the name and the port") {
  World world;
  const Resolver::Result result = world.resolved({{"localhost", 2183}, {"10.0.0.1", 2181}});
  CHECK_FALSE(world.resolver.busy());
  CHECK(result.failures.empty());
  CHECK(result.unresolved.empty());
  REQUIRE(result.addresses.size() >= 2);
  std::size_t of_name = 0;
  for (const Address& address : result.addresses) {
    CAPTURE(to_text(address.endpoint));
    if (address == numeric("10.0.0.1", 2181)) continue;
    ++of_name;
    CHECK(address.endpoint.address().is_loopback());
    CHECK(address.endpoint.port() == 2183);
    CHECK(address.names == std::vector<std::string>{"localhost"});
  }
  CHECK(of_name == result.addresses.size() - 1);
}

TEST_CASE("resolver: names without an address are listed, and cost the others nothing") {
  World world;
  const Resolver::Result result =
      world.resolved({{bad_name, 2181}, {"10.0.0.1", 2181}, {worse_name, 2181}});
  CHECK(result.addresses == std::vector{numeric("10.0.0.1", 2181)});
  CHECK(result.unresolved == std::vector{bad_name, worse_name});
  CHECK(result.failures.starts_with(bad_name + ": "));
  CHECK(result.failures.find("; " + worse_name + ": ") != std::string::npos);
  CHECK(world.resolved({{bad_name, 2181}}).addresses.empty());
  CHECK(world.result->failures.find(';') == std::string::npos);
  // The next look-up begins without the failures of the last.
  CHECK(world.resolved({{"10.0.0.1", 2181}}).failures.empty());
}

TEST_CASE("resolver: a look-up that is cancelled, or followed by another, calls nobody") {
  World world;
  bool called = false;
  world.resolver.resolve({{"localhost", 2181}}, [&](const Resolver::Result&) { called = true; });
  CHECK(world.resolver.busy());
  SECTION("when it is cancelled") {
    world.resolver.cancel();
    CHECK_FALSE(world.resolver.busy());
    world.context.run_for(std::chrono::seconds{20});
    CHECK(world.context.stopped());
  }
  SECTION("when another one has begun") {
    CHECK(world.resolved({{"10.0.0.1", 2181}}).addresses.size() == 1);
    world.context.restart();
    world.context.poll();
  }
  CHECK_FALSE(called);
}

}  // namespace
}  // namespace custodian::tests::resolver_test
