#include "custodian/testing/certificate_authority.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <utility>

namespace custodian::testing {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<&X509_free>>;
using RevocationList = std::unique_ptr<X509_CRL, Freed<&X509_CRL_free>>;
using Text = std::unique_ptr<BIO, Freed<&BIO_free>>;

void check(bool good, const std::string& what) {
  if (good) return;
  const char* const reason = ::ERR_reason_error_string(::ERR_peek_last_error());
  ::ERR_clear_error();
  throw TestingError{what + ": " + (reason != nullptr ? reason : "OpenSSL gives no reason")};
}

Key make_key() {
  const std::unique_ptr<EVP_PKEY_CTX, Freed<&EVP_PKEY_CTX_free>> maker{
      ::EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr)};
  EVP_PKEY* key = nullptr;
  check(maker != nullptr && ::EVP_PKEY_keygen_init(maker.get()) == 1 &&
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(maker.get(), NID_X9_62_prime256v1) == 1 &&
            ::EVP_PKEY_keygen(maker.get(), &key) == 1,
        "a key could not be made");
  return Key{key};
}

std::string text_of(const Text& text) {
  char* bytes = nullptr;
  const auto size = ::BIO_ctrl(text.get(), BIO_CTRL_INFO, 0, static_cast<void*>(&bytes));
  return {bytes, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const Text text{::BIO_new(::BIO_s_mem())};
  check(::PEM_write_bio_X509(text.get(), certificate) == 1, "a certificate could not be written");
  return text_of(text);
}

std::string pem_of(EVP_PKEY* key, const std::string& password) {
  const Text text{::BIO_new(::BIO_s_mem())};
  const EVP_CIPHER* const cipher = password.empty() ? nullptr : ::EVP_aes_256_cbc();
  check(::PEM_write_bio_PKCS8PrivateKey(text.get(), key, cipher, password.data(),
                                        static_cast<int>(password.size()), nullptr, nullptr) == 1,
        "a key could not be written");
  return text_of(text);
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context{};
  ::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Freed<&X509_EXTENSION_free>> extension{
      ::X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
  check(extension != nullptr, "\"" + value + "\" cannot be in a certificate");
  ::X509_add_ext(certificate, extension.get(), -1);
}

long draw_serial() {
  unsigned value = 0;
  ::RAND_bytes(reinterpret_cast<unsigned char*>(&value), sizeof value);
  return static_cast<long>(value >> 1U) + 1;
}

constexpr std::chrono::seconds two_days = std::chrono::hours{48};

/// Makes a certificate with a key and a subject, without extensions or a signature.
Certificate begin_certificate(EVP_PKEY* key, const std::string& common_name, long serial,
                              std::chrono::seconds ends_in) {
  Certificate certificate{::X509_new()};
  X509* const raw = certificate.get();
  constexpr long version_3 = 2;
  ::X509_set_version(raw, version_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(raw), serial);
  ::X509_gmtime_adj(::X509_getm_notBefore(raw), -static_cast<long>(two_days.count()));
  ::X509_gmtime_adj(::X509_getm_notAfter(raw), static_cast<long>(ends_in.count()));
  ::X509_set_pubkey(raw, key);
  X509_NAME* const name = ::X509_get_subject_name(raw);
  const auto add = [&](const char* field, const std::string& value) {
    check(::X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                       reinterpret_cast<const unsigned char*>(value.data()),
                                       static_cast<int>(value.size()), -1, 0) == 1,
          "\"" + value + "\" cannot be a name in a certificate");
  };
  add("O", "Custodian test");
  add("CN", common_name);
  return certificate;
}

}  // namespace

struct CertificateAuthority::Impl {
  Key key;
  Certificate certificate;
  std::string pem{};

  /// Makes an authority. `signer` signs its certificate; null: the authority itself.
  static std::unique_ptr<Impl> make(const std::string& name, const Impl* signer) {
    auto impl = std::make_unique<Impl>();
    impl->key = make_key();
    impl->certificate =
        begin_certificate(impl->key.get(), name, draw_serial(), std::chrono::hours{24 * 365});
    const Impl& issuer = signer != nullptr ? *signer : *impl;
    X509* const raw = impl->certificate.get();
    ::X509_set_issuer_name(raw, ::X509_get_subject_name(issuer.certificate.get()));
    add_extension(raw, raw, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(raw, raw, NID_subject_key_identifier, "hash");
    check(::X509_sign(raw, issuer.key.get(), ::EVP_sha256()) != 0, "a certificate is not signed");
    impl->pem = pem_of(raw);
    return impl;
  }
};

CertificateAuthority::CertificateAuthority(const std::string& name)
    : CertificateAuthority{Impl::make(name, nullptr)} {}

CertificateAuthority::CertificateAuthority(std::unique_ptr<Impl> impl) noexcept
    : impl_{std::move(impl)} {}

CertificateAuthority::~CertificateAuthority() = default;
CertificateAuthority::CertificateAuthority(CertificateAuthority&&) noexcept = default;
CertificateAuthority& CertificateAuthority::operator=(CertificateAuthority&&) noexcept = default;

CertificateAuthority CertificateAuthority::subordinate(const std::string& name) const {
  return CertificateAuthority{Impl::make(name, impl_.get())};
}

const std::string& CertificateAuthority::certificate() const noexcept { return impl_->pem; }

IssuedCertificate CertificateAuthority::issue(const CertificateOptions& options) const {
  const Key key = make_key();
  const long serial = draw_serial();
  const Certificate certificate =
      begin_certificate(key.get(), options.common_name, serial, options.ends_in);
  X509* const raw = certificate.get();
  X509* const issuer = impl_->certificate.get();
  ::X509_set_issuer_name(raw, ::X509_get_subject_name(issuer));
  add_extension(raw, issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(raw, issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(raw, issuer, NID_authority_key_identifier, "keyid");
  std::string alternatives;
  for (const std::string& name : options.names) alternatives += ",DNS:" + name;
  for (const std::string& address : options.addresses) alternatives += ",IP:" + address;
  if (!alternatives.empty()) {
    add_extension(raw, issuer, NID_subject_alt_name, alternatives.substr(1));
  }
  check(::X509_sign(raw, impl_->key.get(), ::EVP_sha256()) != 0, "a certificate is not signed");
  return {pem_of(raw), pem_of(key.get(), options.key_password), serial};
}

std::string CertificateAuthority::revocation_list(const std::vector<IssuedCertificate>& revoked,
                                                  std::chrono::seconds ends_in) const {
  const RevocationList list{::X509_CRL_new()};
  constexpr long version_2 = 1;
  ::X509_CRL_set_version(list.get(), version_2);
  ::X509_CRL_set_issuer_name(list.get(), ::X509_get_subject_name(impl_->certificate.get()));
  const std::unique_ptr<ASN1_TIME, Freed<&ASN1_TIME_free>> begin{
      ::X509_gmtime_adj(nullptr, -static_cast<long>(two_days.count()))};
  const std::unique_ptr<ASN1_TIME, Freed<&ASN1_TIME_free>> end{
      ::X509_gmtime_adj(nullptr, static_cast<long>(ends_in.count()))};
  ::X509_CRL_set1_lastUpdate(list.get(), begin.get());
  ::X509_CRL_set1_nextUpdate(list.get(), end.get());
  for (const IssuedCertificate& each : revoked) {
    X509_REVOKED* const entry = ::X509_REVOKED_new();
    const std::unique_ptr<ASN1_INTEGER, Freed<&ASN1_INTEGER_free>> serial{::ASN1_INTEGER_new()};
    ::ASN1_INTEGER_set(serial.get(), each.serial);
    ::X509_REVOKED_set_serialNumber(entry, serial.get());
    ::X509_REVOKED_set_revocationDate(entry, begin.get());
    ::X509_CRL_add0_revoked(list.get(), entry);
  }
  check(::X509_CRL_sign(list.get(), impl_->key.get(), ::EVP_sha256()) != 0,
        "a revocation list is not signed");
  const Text text{::BIO_new(::BIO_s_mem())};
  check(::PEM_write_bio_X509_CRL(text.get(), list.get()) == 1,
        "a revocation list could not be written");
  return text_of(text);
}

ServerTls CertificateAuthority::server_tls(ClientCertificates client_certificates,
                                           const CertificateOptions& options) const {
  return {issue(options), certificate(), client_certificates};
}

}  // namespace custodian::testing
