#include "session/address.hpp"

#include <boost/asio/ip/address.hpp>

#include "support/catch.hpp"

namespace custodian::tests::address_test {
namespace {

using detail::Address;
using detail::merged;
using detail::with_unresolved;
using Names = std::vector<std::string>;

Address address(int number, Names names) {
  const std::string text = "10.0.0." + std::to_string(number);
  return {{boost::asio::ip::make_address(text), 2181}, std::move(names)};
}

TEST_CASE("an address that several names have led to comes once, with its names in their order") {
  const std::vector<Address> once =
      merged({address(2, {"zk-b"}), address(1, {"zk-b"}), address(1, {"zk-a"}),
              address(2, {"zk-a"}), address(2, {"zk-b"})});
  CHECK(once == std::vector{address(1, {"zk-b", "zk-a"}), address(2, {"zk-b", "zk-a"})});
  // The name service may answer in any order.
  CHECK(once == merged({address(1, {"zk-b"}), address(2, {"zk-b"}), address(2, {"zk-a"}),
                        address(1, {"zk-a"})}));
}

TEST_CASE("a name that does not resolve just now keeps the addresses that it had") {
  const std::vector known{address(1, {"one"}), address(2, {"two"}), address(3, {"two"})};
  CHECK(with_unresolved({address(1, {"one"})}, known, {"two"}) == known);
  CHECK(with_unresolved({address(1, {"one"})}, known, {}) == std::vector{address(1, {"one"})});
  CHECK(with_unresolved({address(9, {"one"})}, known, {"two"}) ==
        std::vector{address(2, {"two"}), address(3, {"two"}), address(9, {"one"})});
  CHECK(with_unresolved({address(1, {"one"})}, {}, {"two"}) == std::vector{address(1, {"one"})});
}

TEST_CASE("an address that two names share keeps the name that does not resolve just now") {
  const std::vector known{address(1, {"one", "two", "three"})};
  CHECK(with_unresolved({address(1, {"two", "three"})}, known, {"one"}) == known);
  CHECK(with_unresolved({address(1, {"one", "three"})}, known, {"two"}) == known);
  CHECK(with_unresolved({address(1, {"one", "new"})}, known, {"two"}) ==
        std::vector{address(1, {"one", "two", "new"})});
  // "two" resolves to another address now, so its earlier address keeps only the name "one", which
  // does not resolve.
  CHECK(with_unresolved({address(2, {"two"})}, known, {"one"}) ==
        std::vector{address(1, {"one"}), address(2, {"two"})});
}

}  // namespace
}  // namespace custodian::tests::address_test
