#include "http/http_message.hpp"

#include "text/json_text.hpp"

namespace custodian::cli {

HttpResponse refusal_of(int status, const std::string& text) {
  return {.status = status, .body = to_line(Json{{"error", text}}) + "\n"};
}

const std::vector<std::pair<std::string, std::string>>& strict_headers() {
  static const std::vector<std::pair<std::string, std::string>> headers{
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
       "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  return headers;
}

}  // namespace custodian::cli
