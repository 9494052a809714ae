// The inventory of a shop: several instances of this program sell the same items over HTTP, and
// never more pieces than there are. README.md says how to try it.

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "custodian/client.hpp"
#include "health.hpp"
#include "metrics.hpp"
#include "server.hpp"
#include "shop.hpp"
#include "stock.hpp"

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

struct Options {
  std::string servers = "127.0.0.1:2181";
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::string database = "inventory.sqlite";
  std::map<std::string, std::int64_t> items{};
  int session_timeout_ms = 10'000;
  int touch_interval_ms = 1'500;
  bool without_locks = false;
};

/// Parses "lamp=300".
std::pair<std::string, std::int64_t> parse_item(const std::string& text) {
  const std::size_t sign = text.find('=');
  std::int64_t pieces = 0;
  const char* const end = text.data() + text.size();
  const char* const begin = sign == std::string::npos ? end : text.data() + sign + 1;
  const auto [last, error] = std::from_chars(begin, end, pieces);
  if (error != std::errc{} || last != end || pieces < 0 || sign == 0) {
    throw CLI::ValidationError{"--item", text + " does not read as lamp=300"};
  }
  return {text.substr(0, sign), pieces};
}

Options parse(int argc, char* argv[]) {
  Options options;
  CLI::App app{"Sells items that several instances have in stock together."};
  app.add_option("--servers", options.servers, "ZooKeeper's addresses")->capture_default_str();
  app.add_option("--address", options.address, "where to listen")->capture_default_str();
  app.add_option("--port", options.port, "0: a free one")->capture_default_str();
  app.add_option("--database", options.database, "the same file for all")->capture_default_str();
  app.add_option_function<std::vector<std::string>>(
      "--item",
      [&options](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) options.items.insert(parse_item(text));
      },
      "an item that is new, and how many: lamp=300; repeat it");
  app.add_option("--session-timeout-ms", options.session_timeout_ms)->capture_default_str();
  app.add_option("--touch-interval-ms", options.touch_interval_ms)->capture_default_str();
  app.add_flag("--without-locks", options.without_locks, "to see what the locks are for");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

void run(const Options& chosen) {
  inventory::Stock stock{chosen.database};
  for (const auto& [item, pieces] : chosen.items) stock.add(item, pieces);

  inventory::Metrics metrics;
  asio::io_context context{2};
  custodian::ClientOptions options;
  options.servers = chosen.servers;
  options.session_timeout = std::chrono::milliseconds{chosen.session_timeout_ms};
  options.touch_interval = std::chrono::milliseconds{chosen.touch_interval_ms};
  options.observer = metrics.observer();
  options.log = [](custodian::LogLevel level, std::string_view line) {
    if (level == custodian::LogLevel::debug) return;
    std::cerr << to_string(level) << ": " << line << '\n';
  };
  custodian::Client client{context.get_executor(), options};
  inventory::Shop shop{client, stock, {.locks = !chosen.without_locks}};
  inventory::Health health{client, options.session_timeout};

  tcp::acceptor acceptor{context, {asio::ip::make_address(chosen.address), chosen.port}};
  const inventory::Service service{shop, stock, health, metrics};
  asio::co_spawn(context, inventory::serve(acceptor, service), asio::detached);
  std::cout << "listening on " << acceptor.local_endpoint() << '\n' << std::flush;

  asio::signal_set signals{context, SIGTERM, SIGINT};
  signals.async_wait([&](boost::system::error_code error, int) {
    if (error) return;
    // New orders are refused; orders under way have five seconds to end.
    health.begin_shutdown();
    acceptor.close();
    client.async_close(5s, [&](boost::system::error_code, bool in_time) {
      std::cout << (in_time ? "closed" : "an order was cut short") << '\n' << std::flush;
      // The context runs a moment longer, so that the last answers are sent.
      const auto farewell = std::make_shared<asio::steady_timer>(context, 100ms);
      farewell->async_wait([&context, farewell](boost::system::error_code) { context.stop(); });
    });
  });

  std::jthread second{[&context] { context.run(); }};
  context.run();
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
