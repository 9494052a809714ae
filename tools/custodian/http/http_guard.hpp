#pragma once

/// \file
/// HttpGuard refuses requests before any route sees them. Pure: a request in, a refusal out.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "http/bearer_token.hpp"
#include "http/http_message.hpp"
#include "http/http_target.hpp"
#include "http/listen_address.hpp"

namespace custodian::cli {

/// Which names a request may use for this server.
enum class HostNames : std::uint8_t {
  any,
  /// "localhost" and loopback addresses. If another site's name suddenly resolves to this machine
  /// (DNS rebinding), the requests of that site's pages have that name.
  of_this_machine,
};

struct HttpGuard {
  HostNames hosts = HostNames::of_this_machine;
  /// Nothing: no request needs a token.
  std::optional<BearerToken> token{};
  /// Whether a target is for everybody, with or without a token. Empty: none is.
  std::function<bool(const HttpTarget&)> is_open{};
};

/// Returns the guard of a server that listens at `where`. Throws UsageError if other machines can
/// connect to `where`, and there is no token.
[[nodiscard]] HttpGuard guard_for(const ListenAddress& where, std::optional<BearerToken> token);

/// Whether a Host header names this machine. The port does not matter: a tunnel may have another
/// one than the server.
[[nodiscard]] bool is_of_this_machine(std::string_view host);

/// The refusal of a request; nothing if it may pass. `target` is the request's; nothing if it could
/// not be parsed.
[[nodiscard]] std::optional<HttpResponse> refusal_of(const HttpGuard& guard,
                                                     const HttpRequest& request,
                                                     const std::optional<HttpTarget>& target);

}  // namespace custodian::cli
