// custodian doctor, on servers that are configured well, and on others.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/look.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::doctor_test {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

struct Report {
  int status = -1;
  Json told;

  /// The worst verdict of a check; empty if the check was not made.
  [[nodiscard]] std::string verdict(const std::string& check) const {
    std::string worst;
    for (const Json& finding : told["findings"]) {
      if (finding["check"] != check) continue;
      const std::string verdict = finding["verdict"];
      const auto rank = [](const std::string& one) {
        return one == "FAIL" ? 3 : one == "WARN" ? 2 : one == "OK" ? 1 : 0;
      };
      if (rank(verdict) > rank(worst)) worst = verdict;
    }
    return worst;
  }
};

Report doctor(const std::string& servers, std::vector<std::string> words = {}) {
  const std::vector<std::string> where{"--servers", servers,        "doctor",
                                       "--json",    "--admin-port", "0"};
  words.insert(words.begin(), where.begin(), where.end());
  const Result result = run(CUSTODIAN_CLI, words);
  INFO(result.output);
  const auto line = result.output.find('{');
  REQUIRE(line != std::string::npos);
  return {result.status, Json::parse(result.output.substr(line))};
}

TEST_CASE("the doctor finds nothing wrong with a server as it should be") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Report report = doctor(connect_string());
  INFO(report.told.dump(2));
  CHECK(report.status == 0);
  CHECK(report.told["failed"] == 0);
  for (const char* check : {"server", "session", "tick", "extended-types", "clock"}) {
    INFO(check);
    CHECK(report.verdict(check) == "OK");
  }
  // The doctor warns of a server that stands alone.
  CHECK(report.verdict("leader") == "WARN");
}

TEST_CASE("the doctor tells a badly configured server's faults one by one, and what to do") {
  const testing::TestingServer server{{.tick_time = 5000ms,
                                       .min_session_timeout = 1000ms,
                                       .max_session_timeout = 3000ms,
                                       .extended_types = false}};
  const Report report = doctor(server.connect_string());
  INFO(report.told.dump(2));
  CHECK(report.status == 1);
  CHECK(report.verdict("server") == "OK");
  CHECK(report.verdict("session") == "FAIL");
  CHECK(report.verdict("tick") == "WARN");
  CHECK(report.verdict("extended-types") == "WARN");
  for (const Json& finding : report.told["findings"]) {
    CHECK((finding["verdict"] == "OK" || !finding["advice"].get<std::string>().empty()));
  }
}

TEST_CASE("the doctor finds a server's limits by trying where it may not ask for them") {
  // The server is a member of an ensemble (of one): the harness would ask a standalone server for
  // its configuration, too.
  const testing::TestingServer server{
      {.tick_time = 1000ms,
       .min_session_timeout = 6000ms,
       .max_session_timeout = 8000ms,
       .ensemble_member = 1,
       .config_lines = {"4lw.commands.whitelist=srvr", "server.1=127.0.0.1:1:2"}}};
  Client{options_for(server.connect_string())}.wait_connected({patience});
  const Report report = doctor(server.connect_string());
  INFO(report.told.dump(2));
  CHECK(report.status == 0);
  CHECK(contains(report.told["findings"][0]["text"], "not allowed: conf, cons"));
  CHECK(report.verdict("leader") == "WARN");
  CHECK(report.verdict("session") == "WARN");
  CHECK(report.verdict("tick") == "WARN");
  const auto& findings = report.told["findings"];
  const auto session = std::ranges::find_if(
      findings, [](const Json& finding) { return finding["check"] == "session"; });
  REQUIRE(session != findings.end());
  CHECK(contains((*session)["text"], "the timeout is 8s"));
  CHECK(contains((*session)["text"], "(of 6s to 8s)"));
}

TEST_CASE("the doctor says which server cannot be reached, and goes on with the others") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const Report report = doctor("127.0.0.1:1," + connect_string());
  INFO(report.told.dump(2));
  CHECK(report.status == 1);
  CHECK(report.told["findings"][0]["subject"] == "127.0.0.1:1");
  CHECK(report.told["findings"][0]["verdict"] == "FAIL");
  CHECK(report.verdict("session") == "OK");
  // A standalone server is a mistake if it is one of several in the list.
  CHECK(report.verdict("leader") == "FAIL");
}

TEST_CASE("the doctor says that nobody answers, and ends") {
  const Report report = doctor("127.0.0.1:1");
  INFO(report.told.dump(2));
  CHECK(report.status == 1);
  CHECK(report.verdict("server") == "FAIL");
  CHECK(report.verdict("ensemble") == "FAIL");
}

TEST_CASE("the doctor tries with the credentials given what a lock does at a path") {
  TestClient test{"doctor-acl"};
  const std::string path = test.root() + "/closed";
  ClientOptions options = options_for(connect_string());
  options.credentials = {{"digest", "owner:secret"}};
  Client owner{options};
  owner.create(path, {}, {.parents = Parents::created_as_containers, .acl = creator_all_acl()});
  const auto path_findings = [](const Report& report) {
    std::vector<std::string> texts;
    for (const Json& finding : report.told["findings"]) {
      if (finding["check"] == "path") texts.push_back(finding["text"]);
    }
    return texts;
  };

  const Report stranger = doctor(connect_string(), {path});
  INFO(stranger.told.dump(2));
  CHECK(stranger.status == 1);
  CHECK(stranger.verdict("path") == "FAIL");
  CHECK(path_findings(stranger).size() >= 2);  // may neither list nor create

  const Report with_secret = doctor(connect_string(), {path, "--auth", "digest:owner:secret"});
  INFO(with_secret.told.dump(2));
  CHECK(with_secret.verdict("path") == "OK");
  CHECK(with_secret.verdict("acl").empty());
  // Others may create nodes there, but not delete them.
  owner.set_acl(path,
                {{Permissions::read | Permissions::create, "world", "anyone"},
                 {Permissions::all, "auth", ""}},
                {});
  const Report half = doctor(connect_string(), {path});
  INFO(half.told.dump(2));
  CHECK(path_findings(half).size() == 1);
  CHECK(contains(path_findings(half).at(0), "may delete"));
  CHECK(half.verdict("acl") == "WARN");
  CHECK(owner.children(path).names.empty());
  owner.remove(path);
}

TEST_CASE("the doctor finds a path of a namespace, missing or not, and leaves nothing behind") {
  TestClient test{"doctor-path"};
  test->create("/there", {}, {.parents = Parents::created_as_containers});
  for (const auto& [path, words] :
       {std::pair{"/there", "may be listed"}, std::pair{"/there/not/yet", "does not exist yet"}}) {
    const Result result = look(test, {"doctor", path});
    INFO(result.output);
    CHECK(contains(result.output, "path " + test.root() + path + ": " + words));
  }
  CHECK(names_below(*test, "/there").empty());
  CHECK(look(test, {"doctor", "there"}).status == 64);
  CHECK(look(test, {"doctor", "--touch-interval", "1"}).status == 64);
}

TEST_CASE("the doctor's lines are for people: verdict, check, subject, and advice below") {
  TestClient test{"doctor-lines"};
  const Result result = look(test, {"doctor", "/", "--session-timeout", "1s"});
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK(contains(result.output, "FAIL  session "));
  CHECK(contains(result.output, "      -> ask for more"));
  CHECK(contains(result.output, "WARN  acl "));
}

}  // namespace
}  // namespace custodian::tests::doctor_test
