#include "session/resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

namespace custodian::detail {
namespace {

using boost::asio::ip::tcp;

std::optional<boost::asio::ip::address> numeric(const HostPort& host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host.host, error);
  return error ? std::nullopt : std::optional{address};
}

bool is_numeric(const HostPort& host) { return numeric(host).has_value(); }

/// Appends the addresses of one name, or the reason why it has none.
void look_up(const HostPort& host, Resolver::Result& result) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(host.port);
  if (const int rc = ::getaddrinfo(host.host.c_str(), port.c_str(), &hints, &found); rc != 0) {
    if (!result.failures.empty()) result.failures += "; ";
    result.failures += host.host + ": " + ::gai_strerror(rc);
    result.unresolved.push_back(host.host);
    return;
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner{found, &::freeaddrinfo};
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    tcp::endpoint endpoint;
    std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
    endpoint.resize(each->ai_addrlen);
    result.addresses.push_back({endpoint, {host.host}});
  }
}

Resolver::Result look_up_all(const std::vector<HostPort>& hosts) {
  Resolver::Result result;
  for (const HostPort& host : hosts) {
    if (const auto address = numeric(host)) {
      result.addresses.push_back({{*address, static_cast<std::uint16_t>(host.port)}, {host.host}});
    } else {
      look_up(host, result);
    }
  }
  result.addresses = merged(std::move(result.addresses));
  return result;
}

}  // namespace

Resolver::Resolver(boost::asio::any_io_executor strand) : errand_{std::move(strand)} {}

void Resolver::resolve(std::vector<HostPort> hosts, Handler handler) {
  if (std::all_of(hosts.begin(), hosts.end(), is_numeric)) {
    return errand_.answer(look_up_all(hosts), std::move(handler));
  }
  try {
    errand_.begin([hosts = std::move(hosts)] { return look_up_all(hosts); }, handler);
  } catch (const std::system_error& error) {
    // No thread could be started just now.
    errand_.answer({.failures = error.what()}, std::move(handler));
  }
}

}  // namespace custodian::detail
