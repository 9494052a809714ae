#include "serve/serve_routes.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "serve/page_files.hpp"

namespace custodian::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::array plain_routes{
    std::pair{"/healthz"sv, ServeRoute::healthz},
    std::pair{"/metrics"sv, ServeRoute::metrics},
    std::pair{"/api/locks"sv, ServeRoute::locks},
    std::pair{"/api/cycles"sv, ServeRoute::cycles},
    std::pair{"/api/servers"sv, ServeRoute::servers},
    std::pair{"/api/events"sv, ServeRoute::events},
};
/// The views of the page. All are one file, which chooses by its own address.
constexpr std::array views{"/"sv, "/leaders"sv, "/servers"sv};
constexpr std::string_view lock_prefix = "/api/locks";

}  // namespace

ServeTarget route_of(const HttpTarget& target) {
  const std::string& path = target.path;
  for (const auto& [name, route] : plain_routes) {
    if (path == name) return {.route = route};
  }
  if (path.starts_with(lock_prefix) && path.substr(lock_prefix.size()).starts_with('/')) {
    return {.route = ServeRoute::lock, .argument = path.substr(lock_prefix.size())};
  }
  const bool is_view = std::ranges::find(views, path) != views.end();
  const std::string name = is_view ? "index.html" : path.substr(1);
  if (find_page_file(name) == nullptr) return {};
  return {.route = ServeRoute::file, .argument = name};
}

bool is_for_everybody(const HttpTarget& target) {
  const ServeRoute route = route_of(target).route;
  return route == ServeRoute::file || route == ServeRoute::healthz;
}

}  // namespace custodian::cli
