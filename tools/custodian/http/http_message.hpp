#pragma once

/// \file
/// HttpRequest and HttpResponse are what a route sees of HTTP. Value types, without sockets.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace custodian::cli {

struct HttpRequest {
  std::string method{};
  std::string target{};
  /// The Host headers, of which there must be one.
  std::vector<std::string> hosts{};
  std::string authorization{};
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// A line of JSON that says what is wrong: {"error":"..."}.
[[nodiscard]] HttpResponse refusal_of(int status, const std::string& text);

/// The headers of every response: nothing is cached, and a browser loads and runs only files of
/// this server.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& strict_headers();

}  // namespace custodian::cli
