// The custodian command with SASL.

#include "custodian/testing/testing_server.hpp"
#include "programs/program.hpp"
#include "support/directory.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::cli_sasl_test {
namespace {

using testing::TestingServer;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TestingServer server_with_users() {
  testing::TestingServerOptions options;
  options.jaas =
      "Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n"
      "  user_anna=\"secret\";\n};\n";
  options.java_options = {"-Dzookeeper.sessionRequireClientSASLAuth=true"};
  return TestingServer{options};
}

TEST_CASE("the command takes a lock as a user of DIGEST-MD5") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  const TestingServer server = server_with_users();
  const Directory files;
  const auto run_with = [&](const std::string& password, const std::vector<std::string>& words) {
    std::vector<std::string> all{
        "--servers", server.connect_string(), "--sasl", "digest-md5", "--sasl-user",
        "anna",      "--sasl-password-file",  password};
    all.insert(all.end(), words.begin(), words.end());
    return run(CUSTODIAN_CLI, all);
  };
  const std::vector<std::string> echo{"lock", "/lock", "--", "echo", "under the lock"};
  const Result locked = run_with(files.with("password", "secret\nmore\n"), echo);
  INFO(locked.output);
  CHECK(locked.status == 0);
  CHECK(contains(locked.output, "under the lock"));

  const Result refused = run_with(files.with("wrong", "guess\n"), echo);
  INFO(refused.output);
  CHECK(refused.status == 77);
  CHECK(contains(refused.output, "the server refuses this identity"));
  CHECK_FALSE(contains(refused.output, "under the lock"));
}

TEST_CASE("options of SASL that do not fit together are a mistake in the command line") {
  const auto message = [](const std::vector<std::string>& words) {
    std::vector<std::string> all{"--servers", "localhost:1"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"inspect", "/lock"});
    const Result result = run(CUSTODIAN_CLI, all);
    CHECK(result.status == 64);
    return result.output;
  };
  CHECK(contains(message({"--sasl-user", "anna"}), "--sasl digest-md5"));
  CHECK(contains(message({"--sasl", "digest-md5"}), "--sasl-password-file"));
  for (const std::string other : {"--sasl-user", "--sasl-password-file"}) {
    CHECK(contains(message({"--sasl", "gssapi", other, "anna"}), "are for --sasl digest-md5"));
  }
  const Directory files;
  const auto with_password = [](const std::string& file) {
    return std::vector<std::string>{"--sasl", "digest-md5",           "--sasl-user",
                                    "anna",   "--sasl-password-file", file};
  };
  std::vector<std::string> with_key = with_password(files.with("password", "secret"));
  with_key.insert(with_key.end(), {"--sasl-keytab", "key"});
  CHECK(contains(message(with_key), "--sasl-keytab is for --sasl gssapi"));
  for (const std::string& file : {files.with("empty", ""), files.file("none")}) {
    CHECK(contains(message(with_password(file)), "no password in the first line of " + file));
  }
  CHECK(contains(message({"--sasl", "plain"}), "gssapi"));
}

}  // namespace
}  // namespace custodian::tests::cli_sasl_test
