#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <string>

#include "custodian/acl.hpp"
#include "custodian/error.hpp"

namespace custodian {

std::string digest_id(std::string_view user, std::string_view password) {
  if (user.empty() || user.find(':') != std::string_view::npos) {
    throw Error{Errc::invalid_argument, "digest_id", "",
                "user: it must not be empty, nor have ':'"};
  }
  const std::string both = std::string{user}.append(":").append(password);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  if (::EVP_Digest(both.data(), both.size(), hash.data(), &size, ::EVP_sha1(), nullptr) != 1) {
    throw Error{Errc::invalid_argument, "digest_id", "", "OpenSSL has no SHA-1 here"};
  }
  // Room for the Base64 text, and the zero that EVP_EncodeBlock() writes behind it.
  std::array<unsigned char, std::size_t{2} * EVP_MAX_MD_SIZE> text{};
  const int length = ::EVP_EncodeBlock(text.data(), hash.data(), static_cast<int>(size));
  return std::string{user}.append(":").append(reinterpret_cast<const char*>(text.data()),
                                              static_cast<std::size_t>(length));
}

}  // namespace custodian
