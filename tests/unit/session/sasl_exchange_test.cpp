// Tests SaslExchange against a server whose answers each test writes down.

#include "session/sasl_exchange.hpp"

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "custodian/error.hpp"
#include "support/catch.hpp"
#include "support/jute.hpp"

namespace custodian::tests::sasl_exchange_test {
namespace {

using detail::SaslClient;
using detail::SaslError;
using detail::SaslExchange;
using Step = SaslExchange::Step;

/// A mechanism that ends after `rounds` rounds.
class Rounds final : public SaslClient {
 public:
  explicit Rounds(int rounds) : rounds_{rounds} {}

  std::string_view mechanism() const noexcept override { return "TEST"; }
  const std::string& first() const noexcept override { return first_; }
  std::optional<std::string> respond(std::string_view challenge) override {
    if (challenge == "fail") throw SaslError{SaslError::Kind::failed, "no good"};
    if (challenge == "refuse") throw SaslError{SaslError::Kind::refused, "not you"};
    if (--rounds_ == 0) return std::nullopt;
    return "re:" + std::string{challenge};
  }

 private:
  const std::string first_{"first"};
  int rounds_;
};

SaslExchange exchange_of(int rounds) { return SaslExchange{std::make_unique<Rounds>(rounds)}; }

std::string framed(const std::string& body) { return Jute{}.string(body).bytes(); }

std::string answered_handshake(std::int64_t session) {
  return Greeting{.session = session}.frame();
}

std::string request(std::int32_t number, const std::string& token) {
  return Jute{}.number(number).number(102).string(token).frame();
}

std::string reply(std::int32_t number, const std::string& token) {
  return Jute{}.header(number).string(token).frame();
}

std::string refusal(std::int32_t number, std::int32_t error) {
  return Jute{}.header(number, error).number(-1).frame();
}

/// The bytes that a link would have: the answer to the handshake, and what comes after it.
class Link {
 public:
  explicit Link(int rounds) : exchange{exchange_of(rounds)} {}

  SaslExchange::Verdict hear(const std::string& bytes) {
    bytes_ += bytes;
    SaslExchange::Verdict verdict = exchange.next(bytes_);
    bytes_.erase(exchange.held(), verdict.used);
    return verdict;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

  SaslExchange exchange;

 private:
  std::string bytes_;
};

TEST_CASE("the rounds of a mechanism are carried in requests behind the handshake",
          "[sasl_exchange]") {
  Link link{3};
  const std::string handshake = answered_handshake(7);
  auto verdict = link.hear(handshake);
  CHECK(verdict.step == Step::send);
  CHECK(verdict.text == request(1, "first"));
  verdict = link.hear(reply(1, "one"));
  CHECK(verdict.step == Step::send);
  CHECK(verdict.text == request(2, "re:one"));
  verdict = link.hear(reply(2, "two"));
  CHECK(verdict.text == request(3, "re:two"));
  CHECK(link.hear(refusal(3, 0)).step == Step::over);
  // The C client now reads the answer to the handshake.
  CHECK(link.bytes() == handshake);
}

TEST_CASE("an exchange waits for whole frames", "[sasl_exchange]") {
  Link link{1};
  const std::string handshake = answered_handshake(7);
  for (const char each : handshake.substr(0, handshake.size() - 1)) {
    CHECK(link.hear({each}).step == Step::read_more);
  }
  CHECK(link.hear(handshake.substr(handshake.size() - 1)).step == Step::send);
  CHECK(link.hear("").step == Step::read_more);
  const std::string last = reply(1, "one");
  for (const char each : last.substr(0, last.size() - 1)) {
    CHECK(link.hear({each}).step == Step::read_more);
  }
  CHECK(link.hear(last.substr(last.size() - 1)).step == Step::over);
}

TEST_CASE("a session that has expired needs no authentication", "[sasl_exchange]") {
  Link link{1};
  CHECK(link.hear(answered_handshake(0)).step == Step::over);
  CHECK(link.bytes() == answered_handshake(0));
}

TEST_CASE("a server refuses an identity by either of two errors", "[sasl_exchange]") {
  for (const ServerErrc error :
       {ServerErrc::auth_failed, ServerErrc::session_closed_require_sasl_auth}) {
    Link link{2};
    REQUIRE(link.hear(answered_handshake(7)).step == Step::send);
    const auto verdict = link.hear(refusal(1, static_cast<std::int32_t>(error)));
    CHECK(verdict.step == Step::refused);
    CHECK(verdict.text.starts_with("SASL (TEST): the server refuses this identity: "));
  }
}

TEST_CASE("other errors are failures, which may pass", "[sasl_exchange]") {
  Link link{2};
  REQUIRE(link.hear(answered_handshake(7)).step == Step::send);
  CHECK(link.hear(refusal(1, static_cast<std::int32_t>(ServerErrc::throttled))).step ==
        Step::failed);
}

TEST_CASE("a mechanism ends an exchange with its reason", "[sasl_exchange]") {
  Link link{2};
  REQUIRE(link.hear(answered_handshake(7)).step == Step::send);
  SECTION("that may pass") {
    const auto verdict = link.hear(reply(1, "fail"));
    CHECK(verdict.step == Step::failed);
    CHECK(verdict.text == "SASL (TEST): no good");
  }
  SECTION("that is a refusal") {
    const auto verdict = link.hear(reply(1, "refuse"));
    CHECK(verdict.step == Step::refused);
    CHECK(verdict.text == "SASL (TEST): not you");
  }
}

TEST_CASE("a hostile server ends an exchange and no more", "[sasl_exchange]") {
  SECTION("a handshake of any length") {
    Link link{1};
    const auto size = static_cast<std::int32_t>(SaslExchange::longest_frame + 1);
    CHECK(link.hear(Jute{}.number(size).bytes()).step == Step::failed);
  }
  SECTION("but not the longest that is allowed") {
    Link link{1};
    const auto size = static_cast<std::int32_t>(SaslExchange::longest_frame);
    CHECK(link.hear(Jute{}.number(size).bytes()).step == Step::read_more);
  }
  SECTION("a negative length") {
    Link link{1};
    CHECK(link.hear(Jute{}.number(-1).bytes()).step == Step::failed);
  }
  SECTION("a handshake without a session") {
    Link link{1};
    CHECK(link.hear(framed(std::string(15, 'x'))).step == Step::failed);
    CHECK(exchange_of(1).next(framed("")).step == Step::failed);
    CHECK(exchange_of(1).next(framed(std::string(16, 'x'))).step == Step::send);
  }
  Link link{2};
  REQUIRE(link.hear(answered_handshake(7)).step == Step::send);
  SECTION("a reply of any length") {
    const auto size = static_cast<std::int32_t>(SaslExchange::longest_frame + 1);
    CHECK(link.hear(Jute{}.number(size).bytes()).step == Step::failed);
  }
  SECTION("an answer to another request") {
    CHECK(link.hear(reply(2, "one")).step == Step::failed);
  }
  SECTION("the event of a watch") { CHECK(link.hear(reply(-1, "one")).step == Step::failed); }
  SECTION("a reply that is cut off") {
    const std::string whole = reply(1, "").substr(4);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      SaslExchange exchange = exchange_of(2);
      REQUIRE(exchange.next(answered_handshake(7)).step == Step::send);
      CHECK(exchange.next(answered_handshake(7) + framed(whole.substr(0, size))).step ==
            Step::failed);
    }
  }
  SECTION("a token beyond its frame") {
    const std::string lie = Jute{}.header(1).number(100).raw("short").frame();
    CHECK(link.hear(lie).step == Step::failed);
  }
  SECTION("a token of negative length") {
    const std::string lie = Jute{}.header(1).number(-2).frame();
    CHECK(link.hear(lie).step == Step::failed);
  }
}

TEST_CASE("a server that asks without an end is not answered for ever", "[sasl_exchange]") {
  Link link{1'000};
  REQUIRE(link.hear(answered_handshake(7)).step == Step::send);
  std::int32_t rounds = 1;
  while (link.hear(reply(rounds, "again")).step == Step::send) ++rounds;
  CHECK(rounds == SaslExchange::most_rounds);
}

}  // namespace
}  // namespace custodian::tests::sasl_exchange_test
