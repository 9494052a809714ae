#include "session/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>

#include "base/printable.hpp"
#include "custodian/error.hpp"

namespace custodian::detail {

namespace ssl = boost::asio::ssl;

namespace {

[[noreturn]] void refuse(std::string_view option, const std::string& file,
                         std::string_view reason) {
  std::string why{"tls."};
  why += option;
  if (!file.empty()) why += " \"" + printable(file) + "\"";
  why += ": ";
  why += reason;
  throw Error{Errc::invalid_argument, "connect", "", why};
}

/// The reason of OpenSSL's newest failure on this thread.
std::string newest_reason() {
  const auto code = ::ERR_peek_last_error();
  ::ERR_clear_error();
  const char* const reason = ::ERR_reason_error_string(code);
  return reason != nullptr ? reason : "OpenSSL gives no reason";
}

/// Refuses the option if its file could not be read. The system's reason comes first: OpenSSL calls
/// a file that is missing "system lib".
void check_file(std::string_view option, const std::string& file, error_code error) {
  if (!error) return;
  ::ERR_clear_error();
  if (!std::ifstream{file}) refuse(option, file, std::strerror(errno));
  refuse(option, file, error.message());
}

std::string password_of(const TlsOptions& options) {
  if (options.private_key_password) return options.private_key_password();
  if (options.private_key_password_file.empty()) return {};
  errno = 0;
  std::ifstream file{options.private_key_password_file};
  std::string password;
  if (!std::getline(file, password)) {
    refuse("private_key_password_file", options.private_key_password_file,
           errno != 0 ? std::strerror(errno) : "it is empty");
  }
  if (password.ends_with('\r')) password.pop_back();
  return password;
}

void trust_authorities(SslContext& context, const TlsOptions& options) {
  error_code error;
  if (options.ca_file.empty() && options.ca_directory.empty()) {
    context.set_default_verify_paths(error);
    if (error) refuse("ca_file", "", "the system's authorities: " + error.message());
  }
  if (!options.ca_file.empty()) {
    context.load_verify_file(options.ca_file, error);
    check_file("ca_file", options.ca_file, error);
  }
  if (!options.ca_directory.empty()) {
    if (!std::ifstream{options.ca_directory}) {
      refuse("ca_directory", options.ca_directory, std::strerror(errno));
    }
    context.add_verify_path(options.ca_directory, error);
    check_file("ca_directory", options.ca_directory, error);
  }
}

void present_certificate(SslContext& context, const TlsOptions& options) {
  const std::string& chain = options.certificate_chain_file;
  const bool in_chain = options.private_key_file.empty();
  if (chain.empty()) {
    if (!in_chain) {
      refuse("private_key_file", options.private_key_file,
             "a key needs its certificate: certificate_chain_file");
    }
    return;
  }
  error_code error;
  context.use_certificate_chain_file(chain, error);
  check_file("certificate_chain_file", chain, error);

  const std::string_view option = in_chain ? "certificate_chain_file" : "private_key_file";
  const std::string& key = in_chain ? chain : options.private_key_file;
  // An exception must not pass through OpenSSL, so the callback keeps it here.
  std::exception_ptr thrown;
  bool asked = false;
  context.set_password_callback([&](std::size_t, ssl::context::password_purpose) -> std::string {
    asked = true;
    try {
      return password_of(options);
    } catch (...) {
      thrown = std::current_exception();
      return {};
    }
  });
  context.use_private_key_file(key, ssl::context::pem, error);
  // The callback refers to this function's variables, and a later key of this context is not ours.
  // So a callback without a password replaces it.
  context.set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string{}; });
  if (thrown) std::rethrow_exception(thrown);
  if (error && asked) {
    ::ERR_clear_error();
    refuse(option, key,
           "the key is encrypted, and the password is missing or wrong: " + error.message());
  }
  check_file(option, key, error);
  if (::SSL_CTX_check_private_key(context.native_handle()) != 1) {
    refuse(option, key, "the key is not the certificate's: " + newest_reason());
  }
}

void heed_revocations(SslContext& context, const TlsOptions& options) {
  if (options.crl_file.empty()) return;
  X509_STORE* const store = ::SSL_CTX_get_cert_store(context.native_handle());
  X509_LOOKUP* const lookup = ::X509_STORE_add_lookup(store, ::X509_LOOKUP_file());
  if (lookup == nullptr ||
      ::X509_load_crl_file(lookup, options.crl_file.c_str(), X509_FILETYPE_PEM) <= 0) {
    const std::string reason = newest_reason();
    if (!std::ifstream{options.crl_file}) {
      refuse("crl_file", options.crl_file, std::strerror(errno));
    }
    refuse("crl_file", options.crl_file, reason);
  }
  ::X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
}

/// Restores the objects that Asio keeps in a context, and deletes with the context, when the hook
/// has returned or thrown.
class KeptForAsio {
 public:
  explicit KeptForAsio(SSL_CTX* context)
      : context_{context},
        data_{::SSL_CTX_get_ex_data(context, app_data)},
        password_{::SSL_CTX_get_default_passwd_cb(context)},
        password_data_{::SSL_CTX_get_default_passwd_cb_userdata(context)} {}
  KeptForAsio(const KeptForAsio&) = delete;
  KeptForAsio& operator=(const KeptForAsio&) = delete;
  ~KeptForAsio() {
    ::SSL_CTX_set_ex_data(context_, app_data, data_);
    ::SSL_CTX_set_default_passwd_cb(context_, password_);
    ::SSL_CTX_set_default_passwd_cb_userdata(context_, password_data_);
  }

  [[nodiscard]] bool is_data_untouched() const {
    return ::SSL_CTX_get_ex_data(context_, app_data) == data_;
  }

 private:
  static constexpr int app_data = 0;  // the index of SSL_CTX_set_app_data

  SSL_CTX* context_;
  void* data_;
  ::pem_password_cb* password_;
  void* password_data_;
};

void call_hook(SslContext& context, const TlsOptions& options) {
  if (!options.configure) return;
  const KeptForAsio kept{context.native_handle()};
  options.configure(context.native_handle());
  if (!kept.is_data_untouched()) {
    refuse("configure", "",
           "SSL_CTX_set_app_data is Asio's; SSL_CTX_get_ex_new_index gives a place of one's own");
  }
  // If the hook has called SSL_CTX_set_verify(), its callback counts, but not its mode.
  context.set_verify_mode(ssl::verify_peer);
}

}  // namespace

std::shared_ptr<SslContext> make_ssl_context(const TlsOptions& options) {
  auto context = std::make_shared<SslContext>(ssl::context::tls_client);
  const int oldest =
      options.minimum_version == TlsVersion::tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
  if (::SSL_CTX_set_min_proto_version(context->native_handle(), oldest) != 1) {
    refuse("minimum_version", "", "this OpenSSL does not have it: " + newest_reason());
  }
  trust_authorities(*context, options);
  heed_revocations(*context, options);
  present_certificate(*context, options);
  context->set_verify_mode(ssl::verify_peer);
  call_hook(*context, options);
  return context;
}

std::vector<std::string> files_of(const TlsOptions& options) {
  std::vector<std::string> files;
  for (const std::string& file :
       {options.ca_file, options.ca_directory, options.certificate_chain_file,
        options.private_key_file, options.private_key_password_file, options.crl_file}) {
    if (!file.empty()) files.push_back(file);
  }
  return files;
}

}  // namespace custodian::detail
