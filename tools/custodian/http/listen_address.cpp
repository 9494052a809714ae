#include "http/listen_address.hpp"

#include <charconv>
#include <string_view>

#include "options/usage_error.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError{"'" + printable(text) +
                   "' is no address to listen at; one is 127.0.0.1:8180, [::1]:8180 or "
                   "localhost:8180"};
}

std::uint16_t port_of(std::string_view digits, const std::string& text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size()) refuse(text);
  return port;
}

/// The host without the brackets of an IPv6 address, which must have them.
std::string host_of(std::string_view host, const std::string& text) {
  if (host == "localhost") return "127.0.0.1";
  const bool in_brackets = host.size() > 2 && host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (in_brackets != (host.find(':') != std::string_view::npos)) refuse(text);
  return std::string{host};
}

}  // namespace

ListenAddress parse_listen_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) refuse(text);
  const std::string_view all{text};
  ListenAddress where{.port = port_of(all.substr(colon + 1), text)};
  boost::system::error_code error;
  where.address = boost::asio::ip::make_address(host_of(all.substr(0, colon), text), error);
  if (error) refuse(text);
  return where;
}

std::string url_of(const ListenAddress& where) {
  const std::string host = where.address.to_string();
  return "http://" + (where.address.is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(where.port) + "/";
}

}  // namespace custodian::cli
