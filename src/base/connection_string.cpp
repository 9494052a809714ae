#include "base/connection_string.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "custodian/error.hpp"
#include "text/trimmed.hpp"

namespace custodian::detail {
namespace {

constexpr std::uint16_t default_port = 2181;
constexpr std::string_view secure_prefix = "secure://";

constexpr std::string_view digits = "0123456789";
constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

bool is_ipv4(const std::string& text) {
  in_addr address{};
  return inet_pton(AF_INET, text.c_str(), &address) == 1;
}

/// An IPv6 address in its shortest form, so that two spellings of one address compare equal;
/// nothing if the text is no IPv6 address.
std::optional<std::string> canonical_ipv6(std::string_view text) {
  // "fe80::1%eth0": the zone names the link of the address, and is kept as it is.
  const auto zone = text.substr(std::min(text.find('%'), text.size()));
  const auto bad_zone_character =
      zone.substr(std::min<std::size_t>(1, zone.size())).find_first_not_of(name_characters);
  if (zone.size() == 1 || bad_zone_character != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string address_text{text.substr(0, text.size() - zone.size())};
  in6_addr address{};
  std::array<char, INET6_ADDRSTRLEN> canonical{};
  if (address_text.find('\0') != std::string::npos ||
      inet_pton(AF_INET6, address_text.c_str(), &address) != 1 ||
      inet_ntop(AF_INET6, &address, canonical.data(), canonical.size()) == nullptr) {
    return std::nullopt;
  }
  return std::string{canonical.data()}.append(zone);
}

/// One server of the list. Its errors name its number and its text.
class Element {
 public:
  Element(std::string_view operation, std::size_t number, std::string_view text)
      : operation_{operation}, number_{number}, text_{text} {}

  HostPort parse() const {
    if (text_.empty()) {
      fail("must not be empty");
    }
    if (text_.front() == '[') {
      return parse_bracketed();
    }
    const auto colon = text_.find(':');
    if (colon != text_.rfind(':')) {
      fail(bracket_advice());
    }
    return {parse_name(text_.substr(0, colon)),
            colon == std::string_view::npos ? default_port : parse_port(text_.substr(colon + 1))};
  }

 private:
  [[noreturn]] void fail(std::string_view rule) const {
    throw Error{Errc::invalid_argument,
                operation_,
                {},
                "connection string, server " + std::to_string(number_) + " \"" + printable(text_) +
                    "\": " + std::string{rule}};
  }

  HostPort parse_bracketed() const {
    const auto close = text_.find(']');
    if (close == std::string_view::npos) {
      fail("the bracket '[' must be closed by ']'");
    }
    const auto host = canonical_ipv6(text_.substr(1, close - 1));
    if (!host) {
      fail("brackets must hold an IPv6 address");
    }
    const auto rest = text_.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') {
      fail("after ']' only a port may follow, as in [::1]:2181");
    }
    return {*host, rest.empty() ? default_port : parse_port(rest.substr(1))};
  }

  std::string parse_name(std::string_view host) const {
    if (host.empty()) {
      fail("the host must not be empty");
    }
    if (host.find_first_not_of(name_characters) != std::string_view::npos) {
      fail("a host has letters, digits, '-', '_' and '.' only");
    }
    check_labels(host);
    std::string name{host};
    if (host.find_first_not_of("0123456789.") == std::string_view::npos && !is_ipv4(name)) {
      fail("an IPv4 address has four numbers from 0 to 255");
    }
    return name;
  }

  /// The limits of RFC 1035: a resolver would refuse a longer name much later and less clearly.
  void check_labels(std::string_view name) const {
    // A name that ends in a dot is complete: a resolver tries no search domain for it.
    if (name.ends_with('.')) {
      name.remove_suffix(1);
    }
    if (name.size() > 253) {
      fail("a host name has 253 characters at most");
    }
    for (std::size_t begin = 0; begin <= name.size();) {
      const auto end = std::min(name.find('.', begin), name.size());
      if (end == begin || end - begin > 63) {
        fail("between two dots a host name has 1 to 63 characters");
      }
      begin = end + 1;
    }
  }

  std::uint16_t parse_port(std::string_view text) const {
    std::uint16_t port = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    if (error != std::errc{} || stop != end || port == 0) {
      fail("the port must be a number from 1 to 65535");
    }
    return port;
  }

  /// Says how to write the server with brackets. "::1:2181" may be an address with a port or an
  /// address alone, and only the user knows, so the advice names both.
  std::string bracket_advice() const {
    const auto colon = text_.rfind(':');
    const auto address = text_.substr(0, colon);
    const auto port = text_.substr(colon + 1);
    const bool port_like = !port.empty() && port.size() <= 5 &&
                           port.find_first_not_of(digits) == std::string_view::npos;
    std::string advice;
    if (port_like && canonical_ipv6(address)) {
      advice.append("[").append(address).append("]:").append(port);
    }
    if (canonical_ipv6(text_)) {
      advice.append(advice.empty() ? "[" : " or [").append(text_).append("]:2181");
    }
    if (advice.empty()) {
      return "must be host, host:port or, for IPv6, [address]:port";
    }
    return "an IPv6 address needs brackets: write " + advice;
  }

  std::string_view operation_;
  std::size_t number_;
  std::string_view text_;
};

std::string parse_chroot(std::string_view operation, std::string_view chroot) {
  if (chroot == "/") {
    return {};
  }
  auto fault = path_fault(chroot);
  if (!fault && chroot.find(',') != std::string_view::npos) {
    fault = "must not contain ',': it is given once, after the last server";
  }
  if (fault) {
    throw Error{Errc::invalid_argument,
                operation,
                {},
                "connection string, chroot \"" + printable(chroot) + "\": " + *fault};
  }
  return std::string{chroot};
}

}  // namespace

ConnectionString parse_connection_string(std::string_view operation, std::string_view text) {
  text = trimmed(text);
  if (text.empty()) {
    throw Error{Errc::invalid_argument, operation, {}, "connection string must not be empty"};
  }
  ConnectionString result;
  result.secure = text.starts_with(secure_prefix);
  if (result.secure) text.remove_prefix(secure_prefix.size());
  if (text.find("://") != std::string_view::npos) {
    throw Error{
        Errc::invalid_argument,
        operation,
        {},
        "connection string \"" + printable(text) +
            "\" must not be a URL: write host:port,host:port/chroot, with secure:// in front "
            "of all for TLS"};
  }
  const auto slash = std::min(text.find('/'), text.size());
  auto servers = text.substr(0, slash);
  for (std::size_t number = 1;; ++number) {
    const auto comma = servers.find(',');
    auto server = Element{operation, number, trimmed(servers.substr(0, comma))}.parse();
    const auto is_known = [&](const HostPort& known) { return same_server(known, server); };
    if (std::ranges::none_of(result.hosts, is_known)) {
      result.hosts.push_back(std::move(server));
    }
    if (comma == std::string_view::npos) {
      break;
    }
    servers.remove_prefix(comma + 1);
  }
  if (slash != text.size()) {
    result.chroot = parse_chroot(operation, text.substr(slash));
  }
  return result;
}

bool same_server(const HostPort& left, const HostPort& right) {
  // Host names ignore case, whatever the locale of this machine is.
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c + 0; };
  return left.port == right.port && std::ranges::equal(left.host, right.host, {}, lower, lower);
}

std::optional<HostPort> parse_server(std::string_view text) {
  try {
    return Element{"", 1, trimmed(text)}.parse();
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string_view without_chroot(std::string_view connection_string) noexcept {
  const auto prefix = connection_string.find(secure_prefix);
  const auto begin = prefix == std::string_view::npos ? 0 : prefix + secure_prefix.size();
  return connection_string.substr(0, connection_string.find('/', begin));
}

std::string to_string(const HostPort& server) {
  const bool ipv6 = server.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
}

std::string to_string(const ConnectionString& connection_string) {
  std::string text;
  for (const auto& server : connection_string.hosts) {
    text.append(text.empty() ? "" : ",").append(to_string(server));
  }
  if (connection_string.secure) text.insert(0, secure_prefix);
  return text.append(connection_string.chroot);
}

}  // namespace custodian::detail
