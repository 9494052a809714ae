// Servers that serve only clients that authenticate (enforce.auth.enabled).

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "support/test_client.hpp"

namespace custodian::tests::enforced_authentication_test {
namespace {

using namespace std::chrono_literals;

constexpr ServerErrc refusal = ServerErrc::session_closed_require_sasl_auth;

testing::TestingServerOptions enforcing() {
  testing::TestingServerOptions options;
  options.config_lines = {"enforce.auth.enabled=true", "enforce.auth.schemes=digest"};
  return options;
}

class Errors {
 public:
  [[nodiscard]] LogSink sink() {
    return [this](LogLevel level, std::string_view line) {
      const std::lock_guard lock{mutex_};
      if (level == LogLevel::error) lines_.emplace_back(line);
    };
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock{mutex_};
    return lines_;
  }
  [[nodiscard]] bool have(std::string_view part) const {
    const auto all = lines();
    return std::ranges::any_of(
        all, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

error_code result_of_read(Client& client) {
  return error_of([&] { static_cast<void>(client.get("/")); });
}

TEST_CASE("without credentials each operation ends with an error that names the cure") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server{enforcing()};
  Errors errors;
  ClientOptions options = options_for(server.connect_string());
  options.log = errors.sink();
  Client client{options};
  // The second read is sent in the next session, which begins some seconds later.
  for (int i = 0; i < 2; ++i) {
    const Deadline soon{15s};
    CHECK(result_of_read(client) == refusal);
    CHECK_FALSE(soon.passed());
  }
  CHECK(error_code{refusal}.message().find("ClientOptions::credentials") != std::string::npos);
  REQUIRE(eventually([&] { return errors.have("enforce.auth.schemes"); }));
  CHECK(errors.have("this client has presented no credentials: set ClientOptions::credentials"));
  // The client does not connect again and again.
  CHECK(client.session().connection <= 3);
  client.close();
}

TEST_CASE("operations that are under way at once all end with that error") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server{enforcing()};
  Client client{options_for(server.connect_string())};
  std::vector<std::future<std::tuple<error_code, Created>>> creates;
  for (int i = 0; i < 10; ++i) {
    creates.push_back(begun<Created>([&](auto done) { client.async_create("/a", "", {}, done); }));
  }
  for (auto& each : creates) {
    REQUIRE(each.wait_for(patience) == std::future_status::ready);
    CHECK(std::get<0>(each.get()) == refusal);
  }
  client.close();
}

TEST_CASE("with credentials of a scheme that the servers ask for everything works") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server{enforcing()};
  Errors errors;
  ClientOptions options = options_for(server.connect_string());
  options.credentials = {{"digest", "app:secret"}};
  options.log = errors.sink();
  Client client{options};
  client.create("/a", "x", {.acl = creator_all_acl()});
  const std::int64_t session = client.session().id;
  server.restart();
  CHECK(client.get("/a").data == "x");
  CHECK(client.session().id == session);
  client.close();
  CHECK(errors.lines().empty());
}

TEST_CASE("a client that is given credentials after the refusal goes on at once") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server{enforcing()};
  Client client{options_for(server.connect_string())};
  CHECK(result_of_read(client) == refusal);
  client.set_credentials({{"digest", "app:secret"}});
  CHECK(result_of_read(client) == error_code{});
  client.close();
}

}  // namespace
}  // namespace custodian::tests::enforced_authentication_test
