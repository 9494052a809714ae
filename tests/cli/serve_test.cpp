// custodian serve, asked by programs and browsers, beside locks of the test's.

#include <csignal>
#include <fstream>
#include <thread>

#include "cli/cli_process.hpp"
#include "cli/http_client.hpp"
#include "cli/look.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

namespace custodian::tests::serve_test {
namespace {

using Words = std::vector<std::string>;
using nlohmann::json;

/// custodian serve, in the namespace of a test's client.
class Server {
 public:
  explicit Server(TestClient& test, const Words& words = {}) : cli_{all(test, words)} {
    REQUIRE(cli_.says("listening at http://"));
    port_ = port_in(cli_.out());
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] json get(const std::string& target) const {
    const HttpReply reply = http_get(port_, target);
    INFO(target << " " << reply.head << " " << reply.body);
    REQUIRE(reply.status == 200);
    return json::parse(reply.body);
  }
  CliProcess& cli() { return cli_; }

 private:
  static Words all(TestClient& test, const Words& words) {
    Words all{"--namespace", test.root(), "serve", "--listen", "127.0.0.1:0", "--every", "100ms"};
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  CliProcess cli_;
  std::uint16_t port_ = 0;
};

/// A browser that follows the events.
class Browser {
 public:
  explicit Browser(std::uint16_t port, const std::string& headers = {}) : connection_{port} {
    connection_.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
  }

  /// The next event; null at the end.
  [[nodiscard]] json next() {
    while (const auto line = connection_.next_line()) {
      if (line->starts_with("data: ")) return json::parse(line->substr(6));
    }
    return nullptr;
  }
  /// The holder of a lock, as soon as an event names another holder than `holder`.
  [[nodiscard]] std::string holder_other_than(const std::string& path, const std::string& holder) {
    for (int i = 0; i != 1000; ++i) {
      const json event = next();
      if (event.is_null()) break;
      for (const json& lock : event["locks"]) {
        if (lock["path"] != path || lock["holders"].empty()) continue;
        if (lock["holders"][0]["identity"] != holder) return lock["holders"][0]["identity"];
      }
    }
    return "none";
  }

 private:
  HttpConnection connection_;
};

}  // namespace

TEST_CASE("serve tells programs of locks, queues and circles as the command does") {
  TestClient test{"serve"};
  InterProcessMutex mutex{*test, "/app/x y"};
  const Lease lease = mutex.acquire();
  Server server{test};

  const json locks = server.get("/api/locks");
  REQUIRE(locks["locks"].size() == 1);
  CHECK(locks["locks"][0] == look_json(test, {"list"}));
  CHECK(locks["complete"] == true);
  json queue = server.get("/api/locks/app/x%20y");
  queue.erase("at");
  CHECK(queue == look_json(test, {"inspect", "/app/x y", "--no-addresses"}));
  CHECK(server.get("/api/cycles")["cycles"].empty());
  CHECK(server.get("/healthz")["connected"] == true);
  CHECK(http_get(server.port(), "/api/locks/a//b").status == 400);
  CHECK(http_get(server.port(), "/nothing").status == 404);
  const HttpReply metrics = http_get(server.port(), "/metrics");
  CHECK(has_text(metrics.body, "custodian_locks{kind=\"mutex\"} 1\n"));
  const HttpReply page = http_get(server.port(), "/leaders");
  CHECK(page.status == 200);
  CHECK(has_text(page.head, "Content-Type: text/html"));
  CHECK(has_text(page.head, "default-src 'none'"));
}

TEST_CASE("serve examines the servers, and writes nothing for it") {
  TestClient test{"serve-servers"};
  Server server{test};
  const json found = server.get("/api/servers");
  CHECK_FALSE(found["findings"].empty());
  for (const json& each : found["findings"]) CHECK(each["check"] != "clock");
  CHECK(names_below(*test, "/").empty());
}

TEST_CASE("a browser sees the next holder when the first one is killed") {
  TestClient test{"serve-live"};
  const auto contender = [&](const std::string& identity) {
    return Words{"--namespace", test.root(), "--session-timeout",
                 "5s",          "lock",      "/x",
                 "--identity",  identity,    "--",
                 "sleep",       "1000"};
  };
  Server server{test};
  Browser browser{server.port()};
  const json first = browser.next();
  CHECK(first["full"] == true);
  CHECK(first["locks"].empty());
  CliProcess one{contender("one")};
  CHECK(browser.holder_other_than("/x", "") == "one");
  CliProcess two{contender("two")};
  REQUIRE(eventually([&] { return names_below(*test, "/x").size() == 2; }));
  one.signal(SIGTERM);
  CHECK(browser.holder_other_than("/x", "one") == "two");
}

TEST_CASE("serve walks while a browser is there, and stops when it has gone") {
  TestClient test{"serve-walks"};
  Server server{test};
  const auto walks = [&] { return server.get("/healthz")["walks"].get<int>(); };
  CHECK(walks() == 0);
  {
    Browser browser{server.port()};
    CHECK(eventually([&] { return walks() > 3; }));
    CHECK(server.get("/healthz")["browsers"] == 1);
  }
  REQUIRE(eventually([&] { return server.get("/healthz")["browsers"] == 0; }));
  // One walk may have been under way.
  const int last = walks();
  for (int i = 0; i != 10; ++i) static_cast<void>(server.get("/healthz"));
  std::this_thread::sleep_for(std::chrono::milliseconds{500});
  CHECK(walks() <= last + 1);
}

TEST_CASE("serve refuses to be read from elsewhere without a token") {
  TestClient test{"serve-token"};
  const Ended refused = run_cli({"serve", "--listen", "0.0.0.0:0"});
  CHECK(refused.status == 64);
  CHECK(contains(refused.err, "--token-file"));
  CHECK(run_cli({"serve", "--listen", "example.com:80"}).status == 64);

  const Directory directory;
  const std::string file = directory.file("token");
  std::ofstream{file} << "0123456789abcdef\n";
  Server server{test, {"--token-file", file}};
  CHECK(http_get(server.port(), "/api/locks").status == 401);
  CHECK(http_get(server.port(), "/metrics").status == 401);
  CHECK(http_get(server.port(), "/").status == 200);
  CHECK(http_get(server.port(), "/healthz").status == 200);
  CHECK(http_get(server.port(), "/api/locks",
                 "Host: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n")
            .status == 200);
  Browser browser{server.port(), "Authorization: Bearer 0123456789abcdef\r\n"};
  CHECK(browser.next()["full"] == true);
  CHECK(http_get(server.port(), "/", "Host: evil.example\r\n").status == 421);
}

TEST_CASE("serve ends in order when it is asked to, with a browser there") {
  TestClient test{"serve-end"};
  Server server{test};
  Browser browser{server.port()};
  CHECK(browser.next()["full"] == true);
  server.cli().signal(SIGTERM);
  CHECK(server.cli().end().status == 0);
}

TEST_CASE("serve says so while no server answers, and its page is there") {
  CliProcess cli{CUSTODIAN_CLI, {"--servers", "127.0.0.1:1", "serve", "--listen", "127.0.0.1:0"}};
  REQUIRE(cli.says("listening at http://"));
  const std::uint16_t port = port_in(cli.out());
  CHECK(http_get(port, "/").status == 200);
  CHECK(json::parse(http_get(port, "/healthz").body)["connected"] == false);
  const HttpReply locks = http_get(port, "/api/locks");
  CHECK(locks.status == 503);
  CHECK(has_text(locks.body, "the servers do not answer"));
  cli.signal(SIGINT);
  CHECK(cli.end().status == 0);
}

}  // namespace custodian::tests::serve_test
