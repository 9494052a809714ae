#include "run/leader_page.hpp"

#include <boost/asio/awaitable.hpp>
#include <utility>

#include "http/bearer_token.hpp"
#include "http/http_guard.hpp"
#include "options/messages.hpp"
#include "options/usage_error.hpp"
#include "text/json_text.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

HttpResponse respond(int status, const Json& json) {
  return {.status = status, .body = to_line(json) + "\n"};
}

asio::awaitable<HttpAnswer> answer(HttpTarget target, std::function<Leading()> leading,
                                   LeaderDetails details) {
  co_return leader_response(target, leading(), details);
}

}  // namespace

Leading leading_of(const std::string& path, const Client& client, const Holding& holding) {
  Leading now{.path = path, .is_connected = is_connected(client.connection_state())};
  // A lease that is asked looks at its clock, so it reports its loss even if this process was
  // stopped meanwhile.
  now.leads = !holding.is_empty() && holding.lost_reason() == LossReason::none;
  if (!now.leads) return now;
  now.node = holding.first().node();
  now.token = to_string(holding.first().token());
  now.identity = client.identity();
  return now;
}

HttpResponse leader_response(const HttpTarget& target, const Leading& leading,
                             LeaderDetails details) {
  const bool shown = details == LeaderDetails::shown;
  if (target.path == "/healthz") {
    Json json{{"status", "ok"}};
    if (shown) json["connected"] = leading.is_connected;
    return respond(200, json);
  }
  if (target.path != "/leader") return refusal_of(404, "there are /leader and /healthz");
  Json json{{"leader", leading.leads}};
  if (shown) {
    json["path"] = leading.path;
    if (leading.leads) {
      json["node"] = leading.node;
      json["token"] = leading.token;
      put_identity(json, leading.identity);
    }
  }
  return respond(leading.leads ? 200 : 503, json);
}

LeaderPage::LeaderPage(asio::io_context& context, const LeaderPageOptions& options,
                       std::function<Leading()> leading) {
  if (options.listen.empty()) {
    if (options.token_file.empty()) return;
    throw UsageError{"--http-token-file goes with --http"};
  }
  const ListenAddress where = parse_listen_address(options.listen);
  HttpGuard guard{.hosts = where.is_loopback() ? HostNames::of_this_machine : HostNames::any};
  if (!options.token_file.empty()) guard.token = read_token_file(options.token_file);
  // A probe of Kubernetes comes from another machine, and shows no token.
  const bool is_open = where.is_loopback() || guard.token;
  const auto details = is_open ? LeaderDetails::shown : LeaderDetails::withheld;
  guard.is_open = [](const HttpTarget& target) { return target.path == "/healthz"; };
  server_ = std::make_unique<HttpServer>(
      context, where,
      HttpSite{.guard = std::move(guard),
               .answer = [leading = std::move(leading), details](HttpTarget target) {
                 return answer(std::move(target), leading, details);
               }});
  server_->start();
  say("listening at " + url_of(server_->where()));
}

}  // namespace custodian::cli
