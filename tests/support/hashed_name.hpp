#pragma once

/// \file
/// Names of certificate files in a directory of authorities.

#include <openssl/pem.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace custodian::tests {

/// The name that `openssl rehash` gives to a certificate that is the only one of its subject.
inline std::string hashed_name(const std::string& certificate) {
  const std::unique_ptr<BIO, decltype(&::BIO_free)> text{
      ::BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size())), &::BIO_free};
  const std::unique_ptr<X509, decltype(&::X509_free)> read{
      ::PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &::X509_free};
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%08lx.0", ::X509_subject_name_hash(read.get()));
  return name.data();
}

}  // namespace custodian::tests
