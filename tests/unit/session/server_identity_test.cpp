#include "session/server_identity.hpp"

#include <algorithm>

#include "support/directory.hpp"
#include "unit/session/tls_handshake.hpp"

namespace custodian::tests::server_identity_test {
namespace {

using testing::CertificateAuthority;
using testing::CertificateOptions;
using Names = std::vector<std::string>;

/// An authority, and clients that trust it.
class Trust {
 public:
  [[nodiscard]] TlsOptions options() const {
    return {.ca_file = files_.with("ca.pem", authority_.certificate())};
  }
  [[nodiscard]] const CertificateAuthority& authority() const { return authority_; }
  /// Why a client that expects one of the names `meant` refuses a certificate made with `shown`;
  /// empty if it accepts it.
  [[nodiscard]] std::string refusal(const Names& meant, const CertificateOptions& shown) const {
    return handshake(options(), meant, authority_.issue(shown)).refusal;
  }

 private:
  CertificateAuthority authority_;
  Directory files_;
};

TEST_CASE("a certificate is for its names and addresses, however they are written") {
  const Trust trust;
  const CertificateOptions shown{.names = {"zk1.example.test"},
                                 .addresses = {"10.0.0.1", "::1", "fe80::1"}};
  for (const std::string meant : {"zk1.example.test", "ZK1.example.test", "zk1.example.test.",
                                  "10.0.0.1", "::1", "0:0:0:0:0:0:0:1", "fe80::1%2"}) {
    CAPTURE(meant);
    CHECK(trust.refusal({meant}, shown).empty());
  }
  for (const std::string meant :
       {"zk2.example.test", "example.test", "zk1.example.test.other", "10.0.0.2", "::2"}) {
    CAPTURE(meant);
    CHECK(trust.refusal({meant}, shown) ==
          "certificate verify failed: the certificate is for zk1.example.test, 10.0.0.1, ::1, "
          "fe80::1, not for " +
              meant + " (tls.server_name says otherwise)");
  }
  // It is enough if one of the names that resolved to the address is in the certificate.
  CHECK(trust.refusal({"zk2.example.test", "zk1.example.test"}, shown).empty());
}

TEST_CASE("a wildcard stands for one label as a whole, and for no part of one") {
  const Trust trust;
  const CertificateOptions whole{.names = {"*.example.test"}, .addresses = {}};
  CHECK(trust.refusal({"zk1.example.test"}, whole).empty());
  CHECK_FALSE(trust.refusal({"a.zk1.example.test"}, whole).empty());
  CHECK_FALSE(trust.refusal({"example.test"}, whole).empty());
  CHECK_FALSE(trust.refusal({"10.0.0.1"}, whole).empty());
  for (const std::string part : {"zk*.example.test", "*1.example.test", "z*1.example.test"}) {
    CAPTURE(part);
    CHECK_FALSE(trust.refusal({"zk1.example.test"}, {.names = {part}, .addresses = {}}).empty());
  }
}

TEST_CASE("a common name is no name of a server") {
  const Trust trust;
  CHECK(contains(trust.refusal({"localhost"}, {.names = {}, .addresses = {}}),
                 "the certificate is for no name at all (it has no subjectAltName), not for "
                 "localhost"));
  CHECK(contains(trust.refusal({"localhost"}, {.names = {}, .addresses = {"127.0.0.1"}}),
                 "the certificate is for 127.0.0.1, not for localhost"));
  CHECK(contains(trust.refusal({"localhost"}, {.names = {"zk1.example.test"}, .addresses = {}}),
                 "not for localhost"));
}

TEST_CASE("what a server's certificate says is shown in a short line") {
  const Trust trust;
  const auto check_line = [](const std::string& refusal) {
    CAPTURE(refusal);
    CHECK(refusal.size() < 400);
    CHECK(contains(refusal, "..."));
    CHECK(std::ranges::all_of(refusal, [](char c) { return c >= ' ' && c <= '~'; }));
  };
  CertificateOptions shown{.names = {"evil\x1b[2J.test"}};
  for (int i = 0; i < 3000; ++i) shown.names.push_back(std::to_string(i) + ".example.test");
  check_line(trust.refusal({"localhost.test"}, shown));

  // OpenSSL prints each of these letters as twelve ASCII characters, so that this subject is long,
  // too.
  shown = {.common_name = {}};
  for (int i = 0; i < 64; ++i) shown.common_name += "\U0001F512";
  const CertificateAuthority other{"Another authority"};
  check_line(handshake(trust.options(), {"localhost"}, other.issue(shown)).refusal);
}

TEST_CASE("the first name that is no address is asked for") {
  const Trust trust;
  const auto asked = [&](TlsOptions options, const Names& meant) {
    return handshake(options, meant, trust.authority().issue()).asked;
  };
  CHECK(asked(trust.options(), {"127.0.0.1", "zk-b.test.", "zk-a.test"}) == "zk-b.test");
  CHECK(asked(trust.options(), {"127.0.0.1", "::1"}).empty());
  TlsOptions named = trust.options();
  named.server_name = "zk.test";
  CHECK(asked(named, {"zk-b.test"}) == "zk.test");
  named.server_name = "127.0.0.1";
  CHECK(asked(named, {"zk-b.test"}).empty());
}

TEST_CASE("the authorities in between count if the server sends them") {
  const Trust trust;
  const CertificateAuthority between = trust.authority().subordinate("In between");
  const CertificateAuthority last = between.subordinate("The last one");
  const testing::IssuedCertificate server = last.issue();
  const Names meant{"localhost"};
  CHECK(handshake(trust.options(), meant, server, last.certificate() + between.certificate())
            .refusal.empty());
  for (const std::string& sent : {std::string{}, last.certificate(), between.certificate()}) {
    CHECK(contains(handshake(trust.options(), meant, server, sent).refusal,
                   "unable to get local issuer certificate"));
  }
  // A certificate for a server does not make the server an authority.
  const CertificateAuthority other{"Another authority"};
  CHECK_FALSE(
      handshake(trust.options(), meant, other.issue(), trust.authority().issue().certificate)
          .refusal.empty());
}

TEST_CASE("without names the chain is still verified") {
  const Trust trust;
  TlsOptions options = trust.options();
  options.verify_hostname = false;
  CHECK(handshake(options, {"zk1.example.test"}, trust.authority().issue()).refusal.empty());
  const CertificateAuthority other{"Another authority"};
  CHECK_FALSE(handshake(options, {"localhost"}, other.issue()).refusal.empty());
}

}  // namespace
}  // namespace custodian::tests::server_identity_test
