// custodian members, of a group of the test's.

#include <fstream>
#include <regex>

#include "cli/look.hpp"
#include "custodian/nodes/group_member.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::members_test {
namespace {

/// The output without the parts that differ from run to run: sessions, times and widths.
std::string likeness(const std::string& text) {
  const std::string sessions = std::regex_replace(text, std::regex{"0x[0-9a-f]+"}, "SESSION");
  const std::regex time{R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ)"};
  return std::regex_replace(std::regex_replace(sessions, time, "TIME"), std::regex{" +"}, " ");
}

/// The lines that docs/operating.md shows behind the command.
std::string documented(const std::string& command) {
  std::ifstream page{CUSTODIAN_OPERATING};
  const std::string margin(4, ' ');
  std::string line;
  while (std::getline(page, line) && line != margin + "$ " + command) continue;
  std::string shown;
  while (std::getline(page, line) && line.starts_with(margin)) {
    shown += line.substr(margin.size()) + '\n';
  }
  return shown;
}

TEST_CASE("members shows who is there, with payload and session") {
  TestClient test{"members"};
  CHECK(look(test, {"members", "/fleet"}).output == "there is no member at /fleet\n");
  const GroupMember one{*test, "/fleet", "worker-1", "10.0.0.1:80"};
  const GroupMember two{*test, "/fleet", "worker-2", "10.0.0.2:80"};
  one.wait_joined();
  two.wait_joined();
  const Result shown = look(test, {"members", "/fleet"});
  CHECK(shown.status == 0);
  CHECK(contains(shown.output, "worker-1"));
  CHECK(likeness(shown.output) == likeness(documented("custodian members /fleet")));
}

TEST_CASE("members shows the same as JSON") {
  TestClient test{"members-json"};
  const GroupMember one{*test, "/fleet", "a", "\xff"};
  one.wait_joined();
  test->create("/fleet/b", "\x1b[2J");
  const auto shown = look_json(test, {"members", "/fleet"});
  CHECK(shown["group"] == "/fleet");
  REQUIRE(shown["members"].size() == 2);
  const auto& first = shown["members"][0];
  CHECK(first["id"] == "a");
  CHECK(first["payload"].is_null());
  CHECK(first["payload_hex"] == "ff");
  CHECK(first["session"].is_string());
  CHECK(first["since"].is_string());
  const auto& second = shown["members"][1];
  CHECK(second["payload"] == "\x1b[2J");
  CHECK(second["session"].is_null());
  const Result plain = look(test, {"members", "/fleet"});
  CHECK(contains(plain.output, "no session"));
  CHECK_FALSE(contains(plain.output, "\x1b"));
}

TEST_CASE("members shows a member whose payload may not be read") {
  TestClient test{"members-refused"};
  test->create("/fleet");
  test->create("/fleet/a", "secret", {.acl = Acl{{.permissions = Permissions::remove}}});
  CHECK(contains(look(test, {"members", "/fleet"}).output, "(may not be read)"));
  CHECK(look_json(test, {"members", "/fleet"})["members"][0]["refused"] == true);
}

TEST_CASE("members names a mistake in the command line") {
  TestClient test{"members-mistakes"};
  CHECK(look(test, {"members"}).status == 64);
  CHECK(look(test, {"members", "fleet"}).status == 64);
}

}  // namespace
}  // namespace custodian::tests::members_test
