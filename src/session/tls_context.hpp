#pragma once

/// \file
/// make_ssl_context() turns TlsOptions into a context of OpenSSL's: certificates, keys and their
/// rules.

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "custodian/tls_options.hpp"

namespace custodian::detail {

using SslContext = boost::asio::ssl::context;

/// Reads the files of the options. Throws Error (invalid_argument), naming the option, the file and
/// the reason.
[[nodiscard]] std::shared_ptr<SslContext> make_ssl_context(const TlsOptions& options);

/// The files that make_ssl_context() reads, and the directory from which OpenSSL takes others.
[[nodiscard]] std::vector<std::string> files_of(const TlsOptions& options);

}  // namespace custodian::detail
