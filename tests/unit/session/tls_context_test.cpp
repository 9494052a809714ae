#include "session/tls_context.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdlib>
#include <stdexcept>

#include "session/tls.hpp"
#include "support/directory.hpp"
#include "support/hashed_name.hpp"
#include "unit/refusal.hpp"
#include "unit/session/tls_handshake.hpp"

namespace custodian::tests::tls_context_test {
namespace {

using namespace std::chrono_literals;
using testing::CertificateAuthority;
using Names = std::vector<std::string>;

int refuse_all(int, X509_STORE_CTX*) { return 0; }
int accept_all(int, X509_STORE_CTX*) { return 1; }
/// The arguments of note_all(), for each certificate.
std::vector<int>& noted() {
  static std::vector<int> all;
  return all;
}
int note_all(int preverified, X509_STORE_CTX*) {
  noted().push_back(preverified);
  return 1;
}
int no_password(char*, int, int, void*) { return 0; }

class Clients {
 public:
  [[nodiscard]] const CertificateAuthority& authority() const { return authority_; }
  [[nodiscard]] TlsOptions options(std::function<void(ssl_ctx_st*)> configure = {}) const {
    TlsOptions options{.ca_file = files_.with("ca.pem", authority_.certificate())};
    options.configure = std::move(configure);
    return options;
  }
  [[nodiscard]] const Directory& files() const { return files_; }

 private:
  CertificateAuthority authority_;
  Directory files_;
};

std::string refusal(const TlsOptions& options, const testing::IssuedCertificate& server,
                    const std::string& meant = "localhost") {
  return handshake(options, {meant}, server).refusal;
}

TEST_CASE("a verify callback of the hook's may refuse what OpenSSL accepts") {
  const Clients clients;
  const auto server = clients.authority().issue();
  REQUIRE(refusal(clients.options(), server).empty());
  CHECK(contains(refusal(clients.options([](SSL_CTX* context) {
                   ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, &refuse_all);
                 }),
                         server),
                 "certificate verify failed: application verification failure"));
  CHECK(contains(refusal(clients.options([](SSL_CTX* context) {
                   ::X509_STORE_set_verify_cb(::SSL_CTX_get_cert_store(context), &refuse_all);
                 }),
                         server),
                 "application verification failure"));
}

TEST_CASE("a verify callback of the hook's may accept any chain, but the name is still verified") {
  const Clients clients;
  const TlsOptions lenient = clients.options(
      [](SSL_CTX* context) { ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, &accept_all); });
  const CertificateAuthority other{"Another authority"};
  for (const auto& server : {other.issue(), clients.authority().issue({.ends_in = -1h})}) {
    CHECK_FALSE(refusal(clients.options(), server).empty());
    CHECK(refusal(lenient, server).empty());
    CHECK(
        contains(refusal(lenient, server, "zk1.example.test"), "the certificate is for localhost"));
  }
}

TEST_CASE("a verify callback of the hook's is given OpenSSL's own opinion, which is 1 or 0") {
  const Clients clients;
  const TlsOptions noting = clients.options(
      [](SSL_CTX* context) { ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, &note_all); });
  noted().clear();
  CHECK(refusal(noting, clients.authority().issue()).empty());
  CHECK_FALSE(noted().empty());
  CHECK(std::ranges::all_of(noted(), [](int each) { return each == 1; }));
  noted().clear();
  CHECK(refusal(noting, CertificateAuthority{"Another authority"}.issue()).empty());
  REQUIRE_FALSE(noted().empty());
  CHECK(noted().front() == 0);
}

TEST_CASE("servers are verified whatever mode the hook sets") {
  const Clients clients;
  const TlsOptions careless = clients.options(
      [](SSL_CTX* context) { ::SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr); });
  CHECK(refusal(careless, clients.authority().issue()).empty());
  CHECK_FALSE(refusal(careless, clients.authority().issue(), "zk1.example.test").empty());
  CHECK_FALSE(refusal(careless, CertificateAuthority{"Another authority"}.issue()).empty());
}

TEST_CASE("the hook does not get at what Asio keeps in the context") {
  const Clients clients;
  static int own = 0;
  check_refused(
      [&] {
        return detail::make_ssl_context(
            clients.options([](SSL_CTX* context) { ::SSL_CTX_set_ex_data(context, 0, &own); }));
      },
      "connect",
      "tls.configure: SSL_CTX_set_app_data is Asio's; SSL_CTX_get_ex_new_index gives a place of "
      "one's own");
  const auto with_password = [](SSL_CTX* context) {
    ::SSL_CTX_set_default_passwd_cb(context, &no_password);
    ::SSL_CTX_set_default_passwd_cb_userdata(context, &own);
  };
  for (const bool has_key : {false, true}) {
    TlsOptions options = clients.options(with_password);
    if (has_key) {
      const auto identity = clients.authority().issue();
      options.certificate_chain_file =
          clients.files().with("client.pem", identity.certificate + identity.key);
    }
    CHECK(refusal(options, clients.authority().issue()).empty());
    options.configure = [&](SSL_CTX* context) {
      with_password(context);
      ::SSL_CTX_set_ex_data(context, 0, &own);
      throw std::runtime_error{"by the hook"};
    };
    CHECK_THROWS_WITH(detail::make_ssl_context(options), "by the hook");
  }
}

TEST_CASE("a revocation list that has ended refuses all, and says so") {
  const Clients clients;
  const auto server = clients.authority().issue();
  TlsOptions options = clients.options();
  options.crl_file = clients.files().with("list", clients.authority().revocation_list({}));
  CHECK(refusal(options, server).empty());
  options.crl_file = clients.files().with("ended", clients.authority().revocation_list({}, -1h));
  CHECK(contains(refusal(options, server), "certificate verify failed: CRL has expired"));
}

TEST_CASE("each authority on the way needs a revocation list, and may revoke the next one") {
  const Clients clients;
  const CertificateAuthority between = clients.authority().subordinate("In between");
  const auto server = between.issue();
  const auto shown = [&](const std::string& lists) {
    TlsOptions options = clients.options();
    options.crl_file = clients.files().with("lists", lists);
    return handshake(options, {"localhost"}, server, between.certificate()).refusal;
  };
  const std::string of_root = clients.authority().revocation_list({});
  CHECK(shown(of_root + between.revocation_list({})).empty());
  CHECK(contains(shown(of_root), "unable to get certificate CRL"));
  CHECK(contains(shown(between.revocation_list({})), "unable to get certificate CRL"));
  CHECK(contains(shown(of_root + between.revocation_list({server})), "certificate revoked"));
}

TEST_CASE("a directory of authorities is trusted, each file by the hash of its name") {
  const Clients clients;
  const Directory directory;
  const std::string& certificate = clients.authority().certificate();
  const TlsOptions options{.ca_directory = directory.path().string()};
  const auto server = clients.authority().issue();
  CHECK_FALSE(refusal(options, server).empty());
  static_cast<void>(directory.with("authority.pem", certificate));
  CHECK_FALSE(refusal(options, server).empty());
  static_cast<void>(directory.with(hashed_name(certificate), certificate));
  CHECK(refusal(options, server).empty());
  CHECK_FALSE(refusal(options, CertificateAuthority{"Another authority"}.issue()).empty());
  CHECK(detail::files_of(options) == Names{options.ca_directory});
}

TEST_CASE("the password of an encrypted key comes from a function, or from the line of a file") {
  const Clients clients;
  const auto server = clients.authority().issue();
  const auto encrypted = clients.authority().issue({.key_password = "pass word"});
  TlsOptions options = clients.options();
  options.certificate_chain_file = clients.files().with("client.pem", encrypted.certificate);
  options.private_key_file = clients.files().with("client.key", encrypted.key);
  const auto refusal_without = [&](const std::string& password_file) {
    options.private_key_password_file = password_file;
    try {
      static_cast<void>(detail::make_ssl_context(options));
    } catch (const Error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(
      contains(refusal_without(""), "the key is encrypted, and the password is missing or wrong"));
  CHECK(contains(refusal_without("/no/such/file"), "No such file or directory"));
  CHECK(contains(refusal_without(clients.files().with("empty", "")), "it is empty"));
  CHECK(contains(refusal_without(clients.files().with("wrong", "word\n")), "missing or wrong"));
  CHECK(refusal_without(clients.files().with("unix", "pass word\nmore\n")).empty());
  CHECK(refusal_without(clients.files().with("windows", "pass word\r\nmore\r\n")).empty());
  options.private_key_password = []() -> std::string { throw std::runtime_error{"no safe"}; };
  CHECK_THROWS_WITH(detail::make_ssl_context(options), "no safe");
}

TEST_CASE("a revocation list that is none is refused for what it is") {
  const Clients clients;
  TlsOptions options = clients.options();
  const auto refused = [&](const std::string& file) {
    options.crl_file = file;
    try {
      static_cast<void>(detail::make_ssl_context(options));
    } catch (const Error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  CHECK(contains(refused("/no/such/file"), "No such file or directory"));
  const std::string of_text = refused(clients.files().with("text", "no list\n"));
  CHECK(contains(of_text, "PEM lib"));
}

TEST_CASE("without authorities of its own a client trusts those of the system") {
  const Clients clients;
  const auto server = clients.authority().issue();
  CHECK_FALSE(refusal(TlsOptions{}, server).empty());
  const char* const usual = std::getenv("SSL_CERT_FILE");
  const std::string before = usual != nullptr ? usual : "";
  ::setenv("SSL_CERT_FILE", clients.options().ca_file.c_str(), 1);
  CHECK(refusal(TlsOptions{}, server).empty());
  usual != nullptr ? ::setenv("SSL_CERT_FILE", before.c_str(), 1) : ::unsetenv("SSL_CERT_FILE");
}

TEST_CASE("the files of tls are read again for a connection if they have changed, and only then") {
  const Clients clients;
  std::vector<std::string> lines;
  const auto tls = detail::make_tls(clients.options());
  boost::asio::io_context context;
  const auto connect = [&] {
    static_cast<void>(
        tls->stream(detail::TcpStream{boost::asio::ip::tcp::socket{context}}, detail::Address{},
                    [&](LogLevel, std::string line) { lines.push_back(std::move(line)); }));
  };
  connect();
  connect();
  CHECK(lines.empty());
  static_cast<void>(clients.files().with("ca.pem", CertificateAuthority{"Another"}.certificate()));
  connect();
  connect();
  CHECK(lines == Names{"the files of tls have changed, and were read again"});
}

}  // namespace
}  // namespace custodian::tests::tls_context_test
