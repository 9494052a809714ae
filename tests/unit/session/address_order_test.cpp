#include "session/address_order.hpp"

#include <map>
#include <set>
#include <string>

#include "support/catch.hpp"

namespace custodian::tests::address_order_test {
namespace {

using detail::Address;
using detail::AddressOrder;
using detail::AddressPace;
using detail::to_text;
using namespace std::chrono_literals;

constexpr AddressOrder::Time start{1'000s};
constexpr double midway = 0.5;  // the jitter that makes a rest exactly its nominal length

AddressOrder::Endpoint endpoint(int number) {
  const std::string text = "10.0.0." + std::to_string(number);
  return {boost::asio::ip::make_address(text), 2181};
}

std::vector<Address> addresses(int count) {
  std::vector<Address> all;
  for (int i = 1; i <= count; ++i) all.push_back({endpoint(i), {"zk" + std::to_string(i)}});
  return all;
}

AddressOrder order_of(int count, std::uint64_t seed = 1) {
  AddressOrder order{seed};
  order.replace(addresses(count));
  return order;
}

TEST_CASE("each address has its turn before any has a second one, for any number of them") {
  for (int count = 1; count <= 9; ++count) {
    CAPTURE(count);
    AddressOrder order = order_of(count);
    std::vector<std::string> first;
    std::vector<std::string> second;
    for (int i = 0; i < count; ++i) first.push_back(to_text(order.next(start)->endpoint));
    for (int i = 0; i < count; ++i) second.push_back(to_text(order.next(start)->endpoint));
    CHECK(std::set<std::string>{first.begin(), first.end()}.size() ==
          static_cast<std::size_t>(count));
    CHECK(first == second);
  }
}

TEST_CASE("the first address is drawn from the seed, evenly") {
  std::map<std::string, int> chosen;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    AddressOrder order = order_of(3, seed);
    ++chosen[to_text(order.next(start)->endpoint)];
  }
  REQUIRE(chosen.size() == 3);
  for (const auto& [address, times] : chosen) {
    CAPTURE(address, times);
    CHECK((times > 800 && times < 1'200));
  }
}

TEST_CASE("the same seed gives the same order, whatever the order of the list") {
  AddressOrder one{7};
  AddressOrder other{7};
  const auto list = addresses(5);
  one.replace(list);
  other.replace({list.rbegin(), list.rend()});
  for (int i = 0; i < 5; ++i) CHECK(one.next(start) == other.next(start));
}

TEST_CASE("an address that failed rests, and the others are dialled meanwhile") {
  AddressOrder order = order_of(2);
  const auto bad = order.next(start)->endpoint;
  order.failed(bad, start, midway);
  const auto good = order.next(start)->endpoint;
  CHECK(good != bad);
  CHECK(order.next(start)->endpoint == good);
  CHECK(order.next(start + 19ms)->endpoint == good);
  CHECK(order.next(start + 20ms)->endpoint == bad);
}

TEST_CASE("where all rest there is nothing to dial until the first has rested") {
  AddressOrder order = order_of(2);
  const auto one = order.next(start)->endpoint;
  order.failed(one, start, midway);
  const auto other = order.next(start)->endpoint;
  order.failed(other, start + 5ms, midway);
  CHECK_FALSE(order.next(start + 10ms));
  CHECK(order.rest(start + 10ms) == 10ms);
  CHECK(order.rest(start + 10ms + 1us) == 10ms);
  CHECK(order.rest(start + 20ms) == 0ms);
  CHECK(order.next(start + 20ms)->endpoint == one);
  CHECK_FALSE(AddressOrder{1}.next(start));
}

TEST_CASE("the rest doubles with each failure in a row, from 20 ms to 1.28 s") {
  AddressOrder order = order_of(1);
  auto now = start;
  for (const auto rest : {20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1280ms, 1280ms}) {
    order.failed(endpoint(1), now, midway);
    CHECK(order.rest(now) == rest);
    now += rest;
  }
  order.answered(endpoint(1));
  order.failed(endpoint(1), now, midway);
  CHECK(order.rest(now) == 20ms);
}

TEST_CASE("a rest is never below half of what is due, nor above one and a half of it") {
  CHECK(AddressPace::rest(0, 0.0) == 10ms);
  CHECK(AddressPace::rest(0, 0.9999) == 29ms);
  CHECK(AddressPace::rest(1'000'000, 0.9999) == 1919ms);
}

TEST_CASE("a list that is replaced keeps what is known of those that stay") {
  AddressOrder order = order_of(2);
  order.failed(endpoint(1), start, midway);
  order.replace(addresses(3));
  CHECK(order.size() == 3);
  CHECK(order.next(start)->endpoint != endpoint(1));
  CHECK(order.next(start)->endpoint != endpoint(1));
  CHECK(order.next(start + 20ms)->endpoint == endpoint(1));

  order.replace({{endpoint(3), {"another name"}}});
  CHECK_FALSE(order.contains(endpoint(1)));
  CHECK(order.contains(endpoint(3)));
  CHECK(order.next(start)->names == std::vector<std::string>{"another name"});
  // The failure of an address that was removed is ignored.
  order.failed(endpoint(1), start, midway);
  order.replace(addresses(1));
  CHECK(order.rest(start) == 0ms);
}

TEST_CASE("a name's address of the other family is found, unless it rests") {
  const auto version_6 = [](int number, unsigned short port = 2181) {
    const std::string text = "fd00::" + std::to_string(number);
    return AddressOrder::Endpoint{boost::asio::ip::make_address(text), port};
  };
  const Address four{endpoint(1), {"a", "b"}};
  const Address same_family{endpoint(2), {"a"}};
  const Address of_others{version_6(3), {"c"}};
  const Address other_port{version_6(4, 2182), {"a"}};
  const Address six{version_6(5), {"b"}};
  AddressOrder order{1};
  order.replace({four, same_family, of_others, other_port});
  CHECK_FALSE(order.other_family(four, start));
  order.replace({four, same_family, of_others, other_port, six});
  CHECK(order.other_family(four, start) == six);
  CHECK(order.other_family(six, start) == four);
  order.failed(six.endpoint, start, midway);
  CHECK_FALSE(order.other_family(four, start));
  CHECK(order.other_family(four, start + 2s) == six);
}

TEST_CASE("an address that was dialled beside another has had its turn") {
  AddressOrder order = order_of(3);
  const Address first = *order.next(start);
  const Address second = *order.next(start);
  AddressOrder another = order_of(3);
  CHECK(another.next(start) == first);
  another.also_dialled(second.endpoint);
  CHECK(another.next(start) != second);
  CHECK(another.next(start) == first);
}

TEST_CASE("an address of version 6 is written in brackets") {
  CHECK(to_text({boost::asio::ip::make_address("10.0.0.1"), 2181}) == "10.0.0.1:2181");
  CHECK(to_text({boost::asio::ip::make_address("::1"), 2181}) == "[::1]:2181");
}

}  // namespace
}  // namespace custodian::tests::address_order_test
