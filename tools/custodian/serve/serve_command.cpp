#include "serve/serve_command.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/bearer_token.hpp"
#include "http/http_server.hpp"
#include "http/listen_address.hpp"
#include "options/duration_option.hpp"
#include "options/exit_status.hpp"
#include "options/usage_error.hpp"
#include "queue/looking.hpp"
#include "serve/serve_site.hpp"

namespace asio = boost::asio;

namespace custodian::cli {
namespace {

/// How long responses under way may take when this server ends.
constexpr std::chrono::seconds farewell{2};

struct ServeRequest {
  std::string listen = "127.0.0.1:8180";
  std::string token_file{};
  ServeTerms terms{};
};

HttpSite site_of(const std::shared_ptr<ServeSite>& site, const ListenAddress& where,
                 const std::string& token_file) {
  std::optional<BearerToken> token;
  if (!token_file.empty()) token = read_token_file(token_file);
  HttpGuard guard = guard_for(where, std::move(token));
  guard.is_open = is_for_everybody;
  return {.guard = std::move(guard),
          .answer = [site](HttpTarget target) { return site->answer(std::move(target)); }};
}

class Serving {
 public:
  Serving(const GlobalOptions& options, const ServeRequest& request)
      : where_{parse_listen_address(request.listen)},
        site_{std::make_shared<ServeSite>(context_, connect(options), request.terms)},
        server_{context_, where_, site_of(site_, where_, request.token_file)} {}

  int run() {
    signals_.async_wait([this](boost::system::error_code error, int) {
      if (!error) stop();
    });
    server_.start();
    std::cout << "listening at " << url_of(server_.where()) << '\n' << std::flush;
    while (!is_stopping_ && context_.run_one() > 0) {
    }
    // Responses under way are finished.
    context_.run_for(farewell);
    if (site_->is_examining()) {
      // The thread of the examination cannot be ended. The examination writes nothing, so this
      // process may just exit.
      std::_Exit(to_int(ExitStatus::ok));
    }
    site_->join();
    return to_int(ExitStatus::ok);
  }

 private:
  void stop() {
    is_stopping_ = true;
    server_.stop();
    site_->stop();
  }

  const ListenAddress where_;
  asio::io_context context_{1};
  asio::signal_set signals_{context_, SIGINT, SIGTERM};
  bool is_stopping_ = false;
  std::shared_ptr<ServeSite> site_;
  HttpServer server_;
};

int serve(const GlobalOptions& options, ServeRequest request) {
  request.terms.client = options.client_options();
  request.terms.examination.writes = WriteTrials::none;
  std::signal(SIGPIPE, SIG_IGN);
  return Serving{options, request}.run();
}

}  // namespace

void add_serve_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "serve", "shows all locks in a browser, live: a page, JSON and metrics over HTTP");
  command->group(looking_group);
  command->footer(
      "It only looks. All browsers share one walk over the locks at a time; none is made while no\n"
      "browser is there and nobody asks. Beyond this machine it needs a token, which is sent in\n"
      "plain text: put a server with TLS in front of it.\n\n"
      "Pages: / /leaders /servers; JSON: /api/locks /api/locks/PATH /api/cycles /api/servers; "
      "also\n/metrics and /healthz.\n\n"
      "Examples:\n"
      "  custodian serve /locks\n"
      "  custodian serve --listen 0.0.0.0:8180 --token-file /etc/custodian/token");
  const auto request = std::make_shared<ServeRequest>();
  request->terms.examination.touch_interval = ClientOptions{}.touch_interval;
  command->add_option("PATH", request->terms.paths, "the paths to begin at (/)")
      ->type_name("")
      ->check(
          [](const std::string& path) {
            return path.starts_with('/') ? std::string{}
                                         : "it must begin with '/', as /locks/backup does: " + path;
          },
          "");
  command
      ->add_option("--listen", request->listen,
                   "where to listen; port 0 is a free one (127.0.0.1:8180)")
      ->type_name("ADDRESS:PORT");
  command
      ->add_option("--token-file", request->token_file,
                   "a file whose first line is the token that a request must show "
                   "(Authorization: Bearer TOKEN)")
      ->type_name("FILE");
  add_duration_option(*command, "--every", request->terms.every,
                      "how long after a walk over the locks the next one begins, at least (1s)");
  command
      ->add_option("--max-nodes", request->terms.list.max_nodes,
                   "look at no more nodes than this, at and below each path (1000000)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return serve(options, *request); });
    };
  });
}

}  // namespace custodian::cli
