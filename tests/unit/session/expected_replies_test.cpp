// The reply that each request expects, and the address that is dialled after a requested rest.

#include <vector>

#include "session/address_order.hpp"
#include "session/reply_check.hpp"
#include "support/catch.hpp"
#include "support/jute.hpp"

namespace custodian::tests::expected_replies_test {
namespace {

using namespace std::chrono_literals;
using detail::AddressOrder;
using detail::expected_reply;
using detail::ReplyBody;

TEST_CASE("each request has the reply that the protocol has for it") {
  CHECK(expected_reply(request::Create{}).body == ReplyBody::path_and_stat);
  CHECK(expected_reply(request::Remove{}).body == ReplyBody::nothing);
  CHECK(expected_reply(request::Exists{}).body == ReplyBody::stat);
  CHECK(expected_reply(request::Get{}).body == ReplyBody::data_and_stat);
  CHECK(expected_reply(request::Set{}).body == ReplyBody::stat);
  CHECK(expected_reply(request::GetChildren{}).body == ReplyBody::names_and_stat);
  CHECK(expected_reply(request::GetAcl{}).body == ReplyBody::acl_and_stat);
  CHECK(expected_reply(request::SetAcl{}).body == ReplyBody::nothing);
  CHECK(expected_reply(request::Sync{}).body == ReplyBody::path);
  CHECK(expected_reply(request::Sync{}).results.empty());
}

TEST_CASE("a transaction's reply has a result for each operation, in their order") {
  const request::Multi multi{
      {transaction::Check{"/a"}, request::Create{}, request::Set{}, request::Remove{}}};
  const detail::ExpectedReply reply = expected_reply(multi);
  CHECK(reply.body == ReplyBody::results);
  CHECK(reply.results ==
        std::vector{ReplyBody::nothing, ReplyBody::path, ReplyBody::stat, ReplyBody::nothing});
  CHECK(expected_reply(request::Multi{}).results.empty());
}

TEST_CASE("the beginning of a reply is judged by its length first") {
  detail::ReplyCheck check{0};
  REQUIRE(check.examine(Greeting{}.frame()).kind == detail::Finding::Kind::good);
  const detail::Finding short_one = check.examine_beginning("abc");
  CHECK(short_one.kind == detail::Finding::Kind::partial);
  CHECK(short_one.size == 4);
  const detail::Finding negative = check.examine_beginning("\xff\xff\xff\xff");
  CHECK(negative.kind == detail::Finding::Kind::fault);
  CHECK(negative.fault == "a packet of -1 bytes");
  // A pong needs no request.
  const std::string pong = Jute{}.header(-2).frame();
  CHECK(check.examine_beginning(pong + "more").size == pong.size());
}

constexpr AddressOrder::Time start{1'000s};

AddressOrder::Endpoint endpoint(const std::string& host) {
  return {boost::asio::ip::make_address(host), 2181};
}

TEST_CASE("an address rests for as long as is asked, however few its failures are") {
  AddressOrder order{1};
  const AddressOrder::Endpoint one = endpoint("10.0.0.1");
  const AddressOrder::Endpoint other = endpoint("10.0.0.2");
  order.replace({{one, {}}, {other, {}}});
  order.rest_until(one, start + 5s);
  CHECK(order.rest(start) == 0ms);
  CHECK(order.next(start)->endpoint == other);
  CHECK(order.next(start)->endpoint == other);
  CHECK(order.next(start + 5s)->endpoint == one);
  // A rest is never made shorter.
  order.rest_until(other, start + 10s);
  order.rest_until(one, start + 9s);
  order.rest_until(one, start + 7s);
  CHECK_FALSE(order.next(start + 8s));
  CHECK(order.rest(start + 8s) == 1s);
  // A server's answer does not end the rest either; and an address that is not in the list has
  // none.
  order.answered(one);
  order.rest_until(endpoint("10.0.0.3"), start + 1h);
  order.also_dialled(endpoint("10.0.0.3"));
  CHECK(order.rest(start + 8s) == 1s);
}

TEST_CASE("an order without addresses has nothing to dial, and no rest to wait for") {
  const AddressOrder order{1};
  CHECK(order.rest(start) == 0ms);
  CHECK_FALSE(order.contains(endpoint("10.0.0.1")));
  CHECK_FALSE(order.other_family({endpoint("10.0.0.1"), {"zk1"}}, start));
}

}  // namespace
}  // namespace custodian::tests::expected_replies_test
