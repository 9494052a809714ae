// `custodian elect --http`: a page says whether a candidate leads, to probes and to processes on
// the same machine.

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/cli_process.hpp"
#include "cli/http_client.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::elect_http_test {
namespace {

using Words = std::vector<std::string>;
using nlohmann::json;

/// A candidate with a page, in the namespace of a test's client.
class Candidate {
 public:
  Candidate(const TestClient& test, const std::string& id, const Words& more = {},
            const std::string& listen = "127.0.0.1:0")
      : cli_{all(test, id, more, listen)} {
    REQUIRE(cli_.says("listening at http://"));
    port_ = port_in(cli_.err());
  }

  [[nodiscard]] HttpReply get(const std::string& target) const { return http_get(port_, target); }
  [[nodiscard]] bool becomes(int status) const {
    return eventually([&] { return get("/leader").status == status; });
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  CliProcess& cli() { return cli_; }

 private:
  static Words all(const TestClient& test, const std::string& id, const Words& more,
                   const std::string& listen) {
    Words all{"--namespace", test.root(), "elect", "/leader", "--id", id, "--http", listen};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "sh", "-c", "echo $CUSTODIAN_FENCING_TOKEN.; exec sleep 1000"});
    return all;
  }

  CliProcess cli_;
  std::uint16_t port_ = 0;
};

}  // namespace

TEST_CASE("the page of a leader has the status 200 and its token, those of others have 503") {
  TestClient test{"elect-http"};
  Candidate one{test, "one"};
  REQUIRE(one.becomes(200));
  const json leader = json::parse(one.get("/leader").body);
  CHECK(leader["leader"] == true);
  CHECK(leader["path"] == "/leader");
  CHECK(leader["identity"] == "one");
  const std::string line = leader["token"].get<std::string>() + ".\n";
  CHECK(eventually([&] { return one.cli().out() == line; }));

  Candidate two{test, "two"};
  CHECK(two.get("/healthz").status == 200);
  const HttpReply other = two.get("/leader");
  CHECK(other.status == 503);
  CHECK(json::parse(other.body)["leader"] == false);
  CHECK_FALSE(json::parse(other.body).contains("token"));
  CHECK(two.get("/api/locks").status == 404);

  one.cli().signal(SIGTERM);
  CHECK(two.becomes(200));
  CHECK(one.cli().end().status == 128 + SIGTERM);
}

TEST_CASE("a leader whose node somebody has deleted does not answer as one until it leads again") {
  TestClient test{"elect-http-loss"};
  Candidate one{test, "one"};
  REQUIRE(one.becomes(200));
  const json before = json::parse(one.get("/leader").body);
  test->remove(before["node"].get<std::string>());
  CHECK(eventually([&] {
    const HttpReply reply = one.get("/leader");
    return reply.status == 200 && json::parse(reply.body)["token"] != before["token"];
  }));
}

TEST_CASE("beyond this machine a candidate's page says yes or no, and no more without a token") {
  TestClient test{"elect-http-open"};
  Candidate one{test, "one", {}, "0.0.0.0:0"};
  REQUIRE(one.becomes(200));
  CHECK(one.get("/leader").body == "{\"leader\":true}\n");

  const Directory directory;
  const std::string file = directory.file("token");
  std::ofstream{file} << "0123456789abcdef\n";
  Candidate two{test, "two", {"--http-token-file", file}, "0.0.0.0:0"};
  CHECK(two.get("/leader").status == 401);
  CHECK(two.get("/healthz").status == 200);
  const std::string shown = "Host: any.example\r\nAuthorization: Bearer 0123456789abcdef\r\n";
  CHECK(http_get(two.port(), "/leader", shown).status == 503);
}

TEST_CASE("a candidate whose page cannot be shown does not stand for election") {
  TestClient test{"elect-http-taken"};
  Candidate one{test, "one"};
  const Words words{"--namespace", test.root(), "elect",
                    "/other",      "--http",    "127.0.0.1:" + std::to_string(one.port()),
                    "--",          "echo",      "ran"};
  const Ended ended = run_cli(words);
  CHECK(ended.status == 64);
  CHECK(contains(ended.err, "cannot listen at"));
  CHECK(ended.out.empty());
  CHECK(run_cli({"elect", "/x", "--http-token-file", "/dev/null", "--", "true"}).status == 64);
}

}  // namespace custodian::tests::elect_http_test
