#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "session/sasl.hpp"
#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::sasl_options_test {
namespace {

using detail::Address;
using detail::make_sasl;
using detail::Sasl;

/// Options that are good for DIGEST-MD5.
SaslOptions of_chris() {
  SaslOptions options{.mechanism = SaslMechanism::digest_md5};
  options.user = "chris";
  options.password = [] { return std::string{"secret"}; };
  return options;
}

Address address(const std::string& text, std::vector<std::string> names) {
  return {{boost::asio::ip::make_address(text), 2181}, std::move(names)};
}

/// The answer of a dialogue to a challenge of the servers.
std::string answer_of(const SaslOptions& options) {
  const Sasl::Begun begun = make_sasl(options)->begin({});
  CHECK(begun.reason.empty());
  REQUIRE(begun.client);
  return begun.client->respond("nonce=\"n\",algorithm=md5-sess").value();
}

std::string reason_of(const SaslOptions& options) {
  const Sasl::Begun begun = make_sasl(options)->begin({});
  CHECK_FALSE(begun.client);
  return begun.reason;
}

TEST_CASE("SASL: the name of a service is one word", "[sasl]") {
  for (const std::string service : {"", "zookeeper/zk1", "zookeeper@zk1"}) {
    for (const SaslMechanism mechanism : {SaslMechanism::gssapi, SaslMechanism::digest_md5}) {
      SaslOptions options = mechanism == SaslMechanism::gssapi ? SaslOptions{} : of_chris();
      options.service = service;
      check_refused(
          [&] { return make_sasl(options); }, "connect",
          "sasl.service: \"" + service + "\" is no name of a service, such as \"zookeeper\"");
    }
  }
  CHECK(make_sasl(SaslOptions{}));
}

TEST_CASE("SASL: DIGEST-MD5 needs a user in ASCII, and a password", "[sasl]") {
  for (const std::string user : {"", "chr\u00eds", "chris\n", "\x1f", "\x7f"}) {
    CAPTURE(user);
    SaslOptions options = of_chris();
    options.user = user;
    check_refused([&] { return make_sasl(options); }, "connect",
                  "sasl.user: DIGEST-MD5 needs the name of a user, in ASCII");
  }
  // The first and the last printable character of ASCII are accepted.
  SaslOptions options = of_chris();
  options.user = " ~";
  CHECK(make_sasl(options));
  options.password = nullptr;
  check_refused([&] { return make_sasl(options); }, "connect",
                "sasl.password: DIGEST-MD5 needs a function that returns it");
}

TEST_CASE("SASL: each option of the other mechanism is refused, even alone", "[sasl]") {
  const std::string of_digest = "sasl.user and password are for DIGEST-MD5; GSSAPI takes a ticket";
  SaslOptions with_user;
  with_user.user = "chris";
  check_refused([&] { return make_sasl(with_user); }, "connect", of_digest);
  SaslOptions with_password;
  with_password.password = of_chris().password;
  check_refused([&] { return make_sasl(with_password); }, "connect", of_digest);

  for (const auto member :
       {&SaslOptions::credential_cache, &SaslOptions::client_keytab, &SaslOptions::principal}) {
    SaslOptions options = of_chris();
    options.*member = "FILE:/x";
    check_refused(
        [&] { return make_sasl(options); }, "connect",
        "sasl.credential_cache, client_keytab and principal are for GSSAPI; DIGEST-MD5 takes a "
        "user");
    SaslOptions of_kerberos;
    of_kerberos.*member = "FILE:/x";
    CHECK(make_sasl(of_kerberos));
  }
}

TEST_CASE("SASL: a ticket is for the server's name, or for its address if it has none", "[sasl]") {
  SaslOptions options;
  const auto wanted = [&options](const Address& of) { return make_sasl(options)->preparation(of); };
  const std::string ticket = "SASL (GSSAPI): a ticket for ";
  CHECK(wanted(address("10.0.0.1", {"zk1", "zk2"})) == ticket + "zookeeper@zk1");
  CHECK(wanted(address("10.0.0.1", {"zk1.example."})) == ticket + "zookeeper@zk1.example");
  CHECK(wanted(address("10.0.0.1", {})) == ticket + "zookeeper@10.0.0.1");
  options.service = "zk";
  options.server_name = "all.example.";
  CHECK(wanted(address("10.0.0.1", {"zk1"})) == ticket + "zk@all.example");
  CHECK(make_sasl(of_chris())->preparation(address("10.0.0.1", {"zk1"})) ==
        "SASL (DIGEST-MD5): SaslOptions::password");
}

TEST_CASE("SASL: with DIGEST-MD5 all servers have one name, unless another is given", "[sasl]") {
  SaslOptions options = of_chris();
  CHECK(answer_of(options).find("digest-uri=\"zookeeper/zk-sasl-md5\"") != std::string::npos);
  options.service = "zk";
  options.server_name = "ours";
  const std::string answer = answer_of(options);
  CHECK(answer.find("digest-uri=\"zk/ours\"") != std::string::npos);
  CHECK(answer.find("username=\"chris\"") != std::string::npos);
}

TEST_CASE("SASL: no two dialogues have the same nonce", "[sasl]") {
  CHECK(answer_of(of_chris()) != answer_of(of_chris()));
}

TEST_CASE("SASL: a password that cannot be used, or had, is the reason for no dialogue", "[sasl]") {
  SaslOptions options = of_chris();
  options.password = [] { return std::string{"s\u00e9cret"}; };
  CHECK(reason_of(options) == "SASL (DIGEST-MD5): the password has characters beyond ASCII");
  options.password = []() -> std::string { throw std::runtime_error{"closed"}; };
  CHECK(reason_of(options) == "SASL (DIGEST-MD5): closed");
  options.password = []() -> std::string { throw 1; };
  CHECK(reason_of(options) ==
        "SASL (DIGEST-MD5): SaslOptions::password has thrown what is no std::exception");
}

TEST_CASE("SASL: four calls may wait for a password, and a fifth fails at once", "[sasl]") {
  SaslOptions options = of_chris();
  std::shared_ptr<const Sasl> sasl;
  std::vector<std::string> reasons;
  std::size_t inner_calls = 0;
  // Each call for the password makes another one, while it is under way itself.
  options.password = [&]() -> std::string {
    if (inner_calls-- > 0) reasons.push_back(sasl->begin({}).reason);
    return "secret";
  };
  sasl = make_sasl(options);
  const auto begin = [&](std::size_t within) {
    reasons.clear();
    inner_calls = within;
    reasons.push_back(sasl->begin({}).reason);
  };
  begin(3);
  CHECK(reasons == std::vector<std::string>(4));
  begin(4);
  // The innermost call ends first.
  CHECK(reasons == std::vector<std::string>{"SASL (DIGEST-MD5): earlier calls have no answer yet",
                                            "", "", "", ""});
  // No call is under way any more.
  begin(3);
  CHECK(reasons == std::vector<std::string>(4));
}

}  // namespace
}  // namespace custodian::tests::sasl_options_test
