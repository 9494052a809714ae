// The addresses of sessions, which repeated answers of the servers complete.

#include "servers/session_addresses.hpp"

#include "support/catch.hpp"

namespace custodian::cli::session_addresses_test {
namespace {

TEST_CASE("an address is known until another is told, though a server does not answer any more") {
  const Addresses known{{1, "a:1"}, {2, "b:2"}, {3, "c:3"}};
  CHECK(brought_up_to_date(known, {{2, "d:4"}, {5, "e:5"}}, {1, 2, 4, 5}) ==
        Addresses{{1, "a:1"}, {2, "d:4"}, {5, "e:5"}});
}

TEST_CASE("the address of a session that nobody asks for is forgotten") {
  CHECK(brought_up_to_date({{1, "a:1"}}, {}, {2}).empty());
}

TEST_CASE("with TLS no admin server is asked in plain HTTP, unless the user has said so") {
  CHECK(admin_port_for(std::nullopt, std::nullopt) == 8080);
  CHECK(admin_port_for(9090, std::nullopt) == 9090);
  CHECK(admin_port_for(std::nullopt, TlsOptions{}) == 0);
  CHECK(admin_port_for(9090, TlsOptions{}) == 9090);
  CHECK(admin_port_for(8080, TlsOptions{}) == 8080);
}

}  // namespace
}  // namespace custodian::cli::session_addresses_test
