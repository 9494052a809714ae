#include "serve/serve_site.hpp"

#include <utility>

#include "doctor/diagnosis.hpp"
#include "queue/queue_view.hpp"
#include "queue/queue_watch.hpp"
#include "queue/surroundings.hpp"
#include "serve/lock_metrics.hpp"
#include "serve/lock_walk.hpp"
#include "serve/page_files.hpp"
#include "text/json_text.hpp"
#include "text/time_text.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

/// How long findings about the servers are reused: collecting them costs a session with each
/// server.
constexpr std::chrono::seconds life_of_findings{60};
constexpr std::size_t looks_at_once = 4;

HttpResponse json_response(const Json& json) { return {.body = to_line(json) + "\n"}; }

HttpResponse file_response(const std::string& name) {
  return {.type = std::string{type_of(name)}, .body = std::string{find_page_file(name)->content}};
}

/// The queue, as `custodian inspect --json --no-addresses` prints it. Blocks.
HttpResponse look_at(const Client& client, const std::string& path) {
  try {
    const InspectRequest request{.path = path};
    QueueView view = view_of(request, inspect(client, path), nullptr);
    view.around = look_around(client, path, view.inspection);
    Json json = json_of(view);
    json["at"] = iso_time(view.at);
    return json_response(json);
  } catch (const Error& error) {
    const bool is_mistake = error.code() == ErrorCondition::caller_mistake;
    const bool is_forbidden = error.code() == ServerErrc::no_auth;
    return refusal_of(is_mistake ? 400 : (is_forbidden ? 403 : 503), error.code().message());
  }
}

/// The findings, as `custodian doctor --json` prints them, but without trying writes. Blocks.
HttpResponse look_at_servers(const ClientOptions& options, const ExaminationRequest& request) {
  Json json = json_of(diagnose(examine(options, request)));
  json["at"] = iso_time(std::chrono::system_clock::now());
  return json_response(json);
}

}  // namespace

ServeSite::ServeSite(asio::io_context& context, Client client, ServeTerms terms)
    : client_{std::move(client)},
      terms_{std::move(terms)},
      board_{context, terms_.every,
             [this](std::stop_token stop) {
               return walk(client_, terms_.paths, terms_.list, std::move(stop));
             }},
      looks_{context, terms_.every, looks_at_once},
      examinations_{context, life_of_findings, 1} {}

asio::awaitable<HttpAnswer> ServeSite::answer(HttpTarget target) {
  const ServeTarget asked = route_of(target);
  switch (asked.route) {
    case ServeRoute::unknown: break;
    case ServeRoute::file: co_return file_response(asked.argument);
    case ServeRoute::healthz: co_return health();
    case ServeRoute::metrics:
    case ServeRoute::locks:
    case ServeRoute::cycles: co_return co_await walked(asked.route);
    case ServeRoute::lock: co_return co_await queue_of(asked.argument);
    case ServeRoute::servers: co_return co_await servers();
    case ServeRoute::events: co_return board_.events();
  }
  co_return refusal_of(404, "there is no such page");
}

asio::awaitable<HttpResponse> ServeSite::walked(ServeRoute route) {
  const std::shared_ptr<const LockWalk> walk = co_await board_.recent();
  if (!walk) co_return refusal_of(503, "this server ends");
  if (route == ServeRoute::metrics) {
    co_return HttpResponse{.type = "text/plain; version=0.0.4; charset=utf-8",
                           .body = metrics_of(*walk)};
  }
  if (!walk->error.empty()) co_return refusal_of(503, walk->error);
  co_return json_response(route == ServeRoute::locks ? json_of_locks(*walk)
                                                     : json_of_cycles(*walk));
}

asio::awaitable<HttpResponse> ServeSite::queue_of(std::string path) {
  return looks_.ask(path, [this, path] { return look_at(client_, path); });
}

asio::awaitable<HttpResponse> ServeSite::servers() {
  return examinations_.ask("servers",
                           [this] { return look_at_servers(terms_.client, terms_.examination); });
}

HttpResponse ServeSite::health() const {
  return json_response({{"status", "ok"},
                        {"connected", is_connected(client_.connection_state())},
                        {"browsers", board_.browsers()},
                        {"walks", board_.walks()}});
}

void ServeSite::join() {
  board_.join();
  looks_.join();
  examinations_.join();
}

void ServeSite::stop() {
  board_.stop();
  looks_.stop();
  examinations_.stop();
  // Ends all requests to the servers at once.
  client_.close();
}

}  // namespace custodian::cli
