#include "session/digest_md5.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <map>
#include <utility>

namespace custodian::detail {
namespace {

using Kind = SaslError::Kind;

/// The directives of a challenge, name=value or name="value", which commas separate. If a name
/// comes twice, the first one counts.
using Words = std::map<std::string, std::string, std::less<>>;

[[noreturn]] void malformed() {
  throw SaslError{Kind::failed, "the server's challenge is malformed"};
}

std::string_view without_blanks(std::string_view text) {
  const auto begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  return text.substr(begin);
}

/// Removes a quoted value from the text, which begins behind the opening quote, and returns it.
std::string take_quoted(std::string_view& text) {
  std::string value;
  while (!text.empty() && text.front() != '"') {
    if (text.front() == '\\') text.remove_prefix(1);
    if (text.empty()) malformed();
    value += text.front();
    text.remove_prefix(1);
  }
  if (text.empty()) malformed();
  text.remove_prefix(1);
  return value;
}

Words words_of(std::string_view text) {
  Words words;
  for (text = without_blanks(text); !text.empty(); text = without_blanks(text)) {
    if (text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    const auto sign = text.find('=');
    if (sign == std::string_view::npos) malformed();
    std::string name{text.substr(0, sign)};
    text.remove_prefix(sign + 1);
    std::string value;
    if (text.starts_with('"')) {
      text.remove_prefix(1);
      value = take_quoted(text);
    } else {
      const auto end = std::min(text.find_first_of(", \t\r\n"), text.size());
      value = text.substr(0, end);
      text.remove_prefix(end);
    }
    words.try_emplace(std::move(name), std::move(value));
  }
  return words;
}

std::string quoted(std::string_view text) {
  std::string result{'"'};
  for (const char each : text) {
    if (each == '"' || each == '\\') result += '\\';
    result += each;
  }
  return result + '"';
}

std::string md5(std::string_view text) {
  std::string digest(16, '\0');
  auto* const bytes = reinterpret_cast<unsigned char*>(digest.data());
  if (::EVP_Digest(text.data(), text.size(), bytes, nullptr, ::EVP_md5(), nullptr) != 1) {
    throw SaslError{Kind::failed, "this machine's OpenSSL has no MD5, as in its FIPS mode"};
  }
  return digest;
}

std::string md5_in_hex(const std::string& text) {
  std::string hex;
  for (const char each : md5(text)) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(each);
    hex += digits[byte >> 4U];
    hex += digits[byte & 0xfU];
  }
  return hex;
}

}  // namespace

DigestMd5::DigestMd5(DigestMd5Identity identity, std::string nonce)
    : identity_{std::move(identity)}, nonce_{std::move(nonce)} {}

std::optional<std::string> DigestMd5::respond(std::string_view challenge) {
  if (proof_.empty()) return answer(challenge);
  check_proof(challenge);
  return std::nullopt;
}

std::string DigestMd5::answer(std::string_view challenge) {
  if (challenge.empty()) {
    throw SaslError{
        Kind::failed,
        "the server does not speak it: has it authProvider.sasl, a section Server in its "
        "JAAS configuration with users, and fips-mode=false?"};
  }
  const Words words = words_of(challenge);
  const auto word = [&words](std::string_view name) {
    const auto found = words.find(name);
    return found == words.end() ? std::string{} : found->second;
  };
  if (word("algorithm") != "md5-sess" || word("nonce").empty()) malformed();
  const std::string offered = "," + word("qop") + ",";
  if (words.contains("qop") && offered.find(",auth,") == std::string::npos) {
    throw SaslError{Kind::failed, "the server insists on a layer of protection"};
  }
  const std::string realm = word("realm");
  const std::string nonces = ":" + word("nonce") + ":" + nonce_;
  const std::string between = ":" + word("nonce") + ":00000001:" + nonce_ + ":auth:";
  const std::string secret =
      md5_in_hex(md5(identity_.user + ":" + realm + ":" + identity_.password) + nonces);
  const auto digest = [&](const std::string& purpose) {
    return md5_in_hex(secret + between + md5_in_hex(purpose + ":" + identity_.server));
  };
  proof_ = digest("");
  std::string text = "charset=utf-8,username=" + quoted(identity_.user);
  if (words.contains("realm")) text += ",realm=" + quoted(realm);
  return text + ",nonce=" + quoted(word("nonce")) + ",nc=00000001,cnonce=" + quoted(nonce_) +
         ",digest-uri=" + quoted(identity_.server) + ",response=" + digest("AUTHENTICATE") +
         ",qop=auth";
}

void DigestMd5::check_proof(std::string_view challenge) const {
  const Words words = words_of(challenge);
  const auto found = words.find("rspauth");
  if (found == words.end()) {
    // A server with allowSaslFailedClients does this.
    throw SaslError{Kind::refused, "the server goes on without having accepted the password"};
  }
  if (found->second != proof_) {
    throw SaslError{Kind::failed, "the server does not know the password"};
  }
}

}  // namespace custodian::detail
