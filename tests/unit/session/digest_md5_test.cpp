#include "session/digest_md5.hpp"

#include <stdexcept>
#include <string>

#include "session/sasl.hpp"
#include "support/catch.hpp"

namespace custodian::tests::digest_md5_test {
namespace {

using detail::DigestMd5;
using detail::SaslError;

/// The example of RFC 2831, section 4.
DigestMd5 chris(const std::string& password = "secret") {
  return {{"chris", password, "imap/elwood.innosoft.com"}, "OA6MHXh6VqTrRk"};
}

constexpr const char* example =
    "realm=\"elwood.innosoft.com\",nonce=\"OA6MG9tEQGm2hh\",qop=\"auth\","
    "algorithm=md5-sess,charset=utf-8";

std::optional<SaslError::Kind> error_of(DigestMd5& client, const std::string& challenge) {
  try {
    static_cast<void>(client.respond(challenge));
    return std::nullopt;
  } catch (const SaslError& error) {
    return error.kind();
  }
}

TEST_CASE("DIGEST-MD5 answers as its document does", "[digest_md5]") {
  DigestMd5 client = chris();
  CHECK(client.first().empty());
  CHECK(client.respond(example) ==
        "charset=utf-8,username=\"chris\",realm=\"elwood.innosoft.com\",nonce=\"OA6MG9tEQGm2hh\","
        "nc=00000001,cnonce=\"OA6MHXh6VqTrRk\",digest-uri=\"imap/elwood.innosoft.com\","
        "response=d388dad90d4bbd760a152321f2143af7,qop=auth");
  CHECK(client.respond("rspauth=ea40f60335c427b5527b84dbabcdfffd") == std::nullopt);
}

TEST_CASE("a server of DIGEST-MD5 must prove that it knows the password", "[digest_md5]") {
  DigestMd5 client = chris();
  REQUIRE(client.respond(example));
  SECTION("with the right proof") {
    CHECK(error_of(client, "rspauth=ea40f60335c427b5527b84dbabcdfffe") == SaslError::Kind::failed);
  }
  SECTION("and not with none, as after a wrong password") {
    CHECK(error_of(client, "") == SaslError::Kind::refused);
  }
}

TEST_CASE("challenges may be written in several ways", "[digest_md5]") {
  const std::string nonce = "nonce=\"OA6MG9tEQGm2hh\"";
  const std::string way = GENERATE_COPY(
      "algorithm=md5-sess," + nonce + ",realm=\"elwood.innosoft.com\"",
      ", ," + nonce + " ,\r\n\talgorithm=\"md5-sess\", realm=\"elwood.innosoft.com\" ,,",
      nonce + ",algorithm=md5-sess,realm=\"elwood.innosoft.com\",realm=\"another\"",
      nonce + ",qop=\"auth-int,auth\",algorithm=md5-sess,realm=\"\\elwood.innosoft.com\"");
  DigestMd5 client = chris();
  const auto answer = client.respond(way);
  REQUIRE(answer);
  CHECK(answer->find("response=d388dad90d4bbd760a152321f2143af7") != std::string::npos);
}

TEST_CASE("names with quotes are written with care", "[digest_md5]") {
  DigestMd5 client{{"a\"b\\c", "secret", "zookeeper/zk-sasl-md5"}, "n"};
  const auto answer = client.respond("nonce=\"x\\\"y\",algorithm=md5-sess");
  REQUIRE(answer);
  CHECK(answer->find("username=\"a\\\"b\\\\c\"") != std::string::npos);
  CHECK(answer->find("nonce=\"x\\\"y\"") != std::string::npos);
  CHECK(answer->find("realm") == std::string::npos);
}

TEST_CASE("challenges that are none are refused", "[digest_md5]") {
  for (const std::string challenge :
       {"", "x", "nonce=\"a\"", "algorithm=md5-sess", "algorithm=md5-sess,nonce=\"\"",
        "algorithm=md5,nonce=\"a\"", "nonce=\"a", "nonce=\"a\\", "nonce=\"a\",algorithm=md5-sess,x",
        "nonce=\"a\",algorithm=md5-sess,qop=\"auth-int,auth-conf\""}) {
    INFO(challenge);
    DigestMd5 client = chris();
    CHECK(error_of(client, challenge) == SaslError::Kind::failed);
  }
}

TEST_CASE("why there is no password is said in one line", "[digest_md5]") {
  SaslOptions options{.mechanism = SaslMechanism::digest_md5};
  options.user = "chris";
  options.password = []() -> std::string { throw std::runtime_error{"the vault\nis closed"}; };
  const detail::Sasl::Begun begun = detail::make_sasl(options)->begin({});
  CHECK_FALSE(begun.client);
  CHECK(begun.reason == "SASL (DIGEST-MD5): the vault\\nis closed");
}

}  // namespace
}  // namespace custodian::tests::digest_md5_test
