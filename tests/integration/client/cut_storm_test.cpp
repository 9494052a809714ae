/// \file
/// A connection that is cut again and again leaves no node without an owner.
///
/// CUSTODIAN_TEST_CUTS sets the number of cuts of each case, and makes it print its figures. Ten
/// thousand cuts take minutes: then raise CUSTODIAN_TEST_TIMEOUT, too.

#include "integration/client/cut_storm.hpp"

#include <cstdlib>
#include <iostream>

#include "support/catch.hpp"
#include "support/test_servers.hpp"

namespace custodian::tests::cut_storm_test {
namespace {

using testing::ConnectionFactory;
using testing::Ending;

void check_storm(ConnectionFactory connection_factory, Ending ending) {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  CutStormSettings settings;
  settings.connection_factory = connection_factory;
  settings.ending = ending;
  const char* cuts = std::getenv("CUSTODIAN_TEST_CUTS");
  if (cuts != nullptr) settings.cuts = std::atoi(cuts);

  CutStorm storm{settings};
  const CutStormReport report = storm.run();
  if (cuts != nullptr) std::cout << report << '\n' << std::flush;

  CAPTURE(report);
  CHECK(report.cuts == settings.cuts);
  CHECK(report.failures == 0);
  CHECK(report.removed.empty());
  CHECK(report.orphans.empty());
}

}  // namespace

TEST_CASE("connections that end leave no orphan, and no lock is blocked", "[nio][end]") {
  CUSTODIAN_REQUIRES_PLAIN_TCP("servers with it have Netty's connections");
  check_storm(ConnectionFactory::nio, Ending::orderly);
}

TEST_CASE("connections that are reset leave no orphan, and no lock is blocked", "[nio][reset]") {
  CUSTODIAN_REQUIRES_PLAIN_TCP("servers with it have Netty's connections");
  check_storm(ConnectionFactory::nio, Ending::reset);
}

TEST_CASE("connections to a Netty server that end leave no orphan, and no lock is blocked",
          "[netty][end]") {
  check_storm(ConnectionFactory::netty, Ending::orderly);
}

TEST_CASE("connections to a Netty server that are reset leave no orphan, and no lock is blocked",
          "[netty][reset]") {
  check_storm(ConnectionFactory::netty, Ending::reset);
}

}  // namespace custodian::tests::cut_storm_test
