#include "http/http_guard.hpp"

#include <string>
#include <utility>

#include "options/usage_error.hpp"

namespace custodian::cli {
namespace {

/// "[::1]:8180" without its port.
std::string_view without_port(std::string_view host) {
  const auto colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find(']', colon) == host.npos;
  if (!has_port) return host;
  const std::string_view port = host.substr(colon + 1);
  return port.find_first_not_of("0123456789") == port.npos ? host.substr(0, colon) : host;
}

}  // namespace

HttpGuard guard_for(const ListenAddress& where, std::optional<BearerToken> token) {
  if (!where.is_loopback() && !token) {
    throw UsageError{"at " + url_of(where) +
                     " other machines could read all of this: give a token (--token-file), or "
                     "listen at 127.0.0.1"};
  }
  return {.hosts = where.is_loopback() ? HostNames::of_this_machine : HostNames::any,
          .token = std::move(token)};
}

bool is_of_this_machine(std::string_view host) {
  host = without_port(host);
  if (host == "localhost") return true;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(std::string{host}, error);
  return !error && address.is_loopback();
}

std::optional<HttpResponse> refusal_of(const HttpGuard& guard, const HttpRequest& request,
                                       const std::optional<HttpTarget>& target) {
  if (request.hosts.size() != 1 || !target) return refusal_of(400, "this is no request");
  if (guard.hosts == HostNames::of_this_machine && !is_of_this_machine(request.hosts.front())) {
    return refusal_of(421, "this server is for this machine alone, and has no such name");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    HttpResponse response = refusal_of(405, "this server only shows: GET and HEAD");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  const bool is_open = !guard.token || (guard.is_open && guard.is_open(*target));
  if (!is_open && !guard.token->is_shown_by(request.authorization)) {
    HttpResponse response = refusal_of(401, "a token is needed: Authorization: Bearer TOKEN");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  return std::nullopt;
}

}  // namespace custodian::cli
