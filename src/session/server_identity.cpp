#include "session/server_identity.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <memory>

#include "base/printable.hpp"

namespace custodian::detail {
namespace {

bool is_address(const std::string& name) {
  boost::system::error_code error;
  boost::asio::ip::make_address(name, error);
  return !error;
}

/// The name in the form that certificates have: "zk1.example." is the complete name of zk1.example,
/// and "fe80::1%eth0" is an address and the link that leads to it.
std::string as_certified(std::string name) {
  if (name.ends_with('.')) name.pop_back();
  if (is_address(name)) name.resize(std::min(name.find('%'), name.size()));
  return name;
}

bool is_for(X509* certificate, const std::string& name) {
  if (is_address(name)) return ::X509_check_ip_asc(certificate, name.c_str(), 0) == 1;
  // Without the second flag, OpenSSL would compare the common name if there is no subjectAltName.
  constexpr unsigned strictly =
      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
  return ::X509_check_host(certificate, name.c_str(), name.size(), strictly, nullptr) == 1;
}

/// Makes a short line of a certificate's text: it may be long, and the server was not verified.
std::string short_line(std::string_view text) {
  constexpr std::size_t longest = 200;
  return shortened(in_one_line(text), longest);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string text_of(const ASN1_STRING* string) {
  return {reinterpret_cast<const char*>(::ASN1_STRING_get0_data(string)),
          static_cast<std::size_t>(::ASN1_STRING_length(string))};
}

/// The names and addresses that the certificate is for.
std::string names_in(X509* certificate) {
  const auto free_names = [](GENERAL_NAMES* names) { ::GENERAL_NAMES_free(names); };
  const std::unique_ptr<GENERAL_NAMES, decltype(free_names)> names{
      static_cast<GENERAL_NAMES*>(
          ::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      free_names};
  std::vector<std::string> found;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) found.push_back(text_of(name->d.dNSName));
    if (name->type != GEN_IPADD) continue;
    const std::string bytes = text_of(name->d.iPAddress);
    boost::asio::ip::address_v4::bytes_type v4{};
    boost::asio::ip::address_v6::bytes_type v6{};
    if (bytes.size() == v4.size()) {
      std::ranges::copy(bytes, v4.begin());
      found.push_back(boost::asio::ip::address_v4{v4}.to_string());
    } else if (bytes.size() == v6.size()) {
      std::ranges::copy(bytes, v6.begin());
      found.push_back(boost::asio::ip::address_v6{v6}.to_string());
    }
  }
  return found.empty() ? "no name at all (it has no subjectAltName)" : joined(found);
}

std::string subject_of(X509* certificate) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> out{::BIO_new(::BIO_s_mem()), &::BIO_free};
  ::X509_NAME_print_ex(out.get(), ::X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(out.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

/// The verify callback that TlsOptions::configure has set. OpenSSL calls ours in its place.
SSL_verify_cb callback_of_hook(X509_STORE_CTX* judged) {
  const auto* const connection = static_cast<const SSL*>(
      ::X509_STORE_CTX_get_ex_data(judged, ::SSL_get_ex_data_X509_STORE_CTX_idx()));
  if (connection == nullptr) return nullptr;
  const SSL_verify_cb own = ::SSL_CTX_get_verify_callback(::SSL_get_SSL_CTX(connection));
  return own != nullptr ? own : ::X509_STORE_get_verify_cb(::X509_STORE_CTX_get0_store(judged));
}

std::string reason_in(X509_STORE_CTX* judged) {
  return ::X509_verify_cert_error_string(::X509_STORE_CTX_get_error(judged));
}

}  // namespace

ServerIdentity::ServerIdentity(const TlsOptions& options, const Address& address)
    : verifies_name_{options.verify_hostname} {
  const std::vector<std::string> given{options.server_name};
  for (const std::string& name : options.server_name.empty() ? address.names : given) {
    names_.push_back(as_certified(name));
  }
}

void ServerIdentity::ask_for_name(SSL* connection) const {
  const auto name = std::ranges::find_if_not(names_, &is_address);
  if (name == names_.end()) return;
  // The call is written out because its macro has an old-style cast. A name that OpenSSL does not
  // take is refused later, when the certificate is compared with it.
  ::SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(name->c_str()));
  ::ERR_clear_error();
}

bool ServerIdentity::accepts(bool preverified, boost::asio::ssl::verify_context& chain) {
  X509_STORE_CTX* const judged = chain.native_handle();
  X509* const certificate = ::X509_STORE_CTX_get_current_cert(judged);
  const SSL_verify_cb hook = callback_of_hook(judged);
  if (hook != nullptr ? hook(preverified ? 1 : 0, judged) == 0 : !preverified) {
    if (preverified && ::X509_STORE_CTX_get_error(judged) == X509_V_OK) {
      ::X509_STORE_CTX_set_error(judged, X509_V_ERR_APPLICATION_VERIFICATION);
    }
    refusal_ = reason_in(judged);
    if (certificate != nullptr) refusal_ += " (" + short_line(subject_of(certificate)) + ")";
    return false;
  }
  // The server's own certificate is verified last. A hook may have accepted the certificate
  // although OpenSSL refused it, but the hook does not decide about the name.
  if (::X509_STORE_CTX_get_error_depth(judged) != 0 || !verifies_name_) return true;
  X509* const own = ::X509_STORE_CTX_get0_cert(judged);
  if (own == nullptr) return false;
  const auto matches = [&](const std::string& name) { return is_for(own, name); };
  if (std::ranges::any_of(names_, matches)) return true;
  ::X509_STORE_CTX_set_error(judged, X509_V_ERR_HOSTNAME_MISMATCH);
  refusal_ = "the certificate is for " + short_line(names_in(own)) + ", not for " +
             short_line(joined(names_)) + " (tls.server_name says otherwise)";
  return false;
}

bool ServerIdentity::was_shown(const SSL* connection) {
  return ::SSL_get_peer_cert_chain(connection) != nullptr;
}

std::string ServerIdentity::reason_of(error_code error, const SSL* connection) const {
  namespace asio = boost::asio;
  if (!refusal_.empty()) return "certificate verify failed: " + refusal_;
  if (!error) return "the server has shown no certificate";
  if (error == asio::ssl::error::stream_truncated || error == asio::error::eof ||
      error == asio::error::connection_reset) {
    if (::SSL_get_peer_cert_chain(connection) == nullptr) {
      return "the server ended the connection; does this port speak TLS?";
    }
    return ::SSL_get_certificate(connection) == nullptr
               ? "the server ended the connection; it may want a certificate of this client "
                 "(tls.certificate_chain_file)"
               : "the server ended the connection; it may not trust this client's certificate";
  }
  if (error.category() != asio::error::get_ssl_category()) return error.message();
  const char* const reason = ::ERR_reason_error_string(static_cast<unsigned long>(error.value()));
  std::string text = reason != nullptr ? reason : error.message();
  if (text == "wrong version number" || text == "packet length too long") {
    return text + "; does this port speak TLS?";
  }
  return text;
}

}  // namespace custodian::detail
