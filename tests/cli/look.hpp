#pragma once

/// \file
/// Runs the custodian command in the namespace of a test's client.

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "programs/program.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {

[[nodiscard]] inline std::vector<std::string> words_for(TestClient& test,
                                                        std::vector<std::string> words) {
  const std::vector<std::string> where{"--servers", test.servers(), "--namespace", test.root()};
  words.insert(words.begin(), where.begin(), where.end());
  return words;
}

[[nodiscard]] inline Result look(TestClient& test, std::vector<std::string> words) {
  return run(CUSTODIAN_CLI, words_for(test, std::move(words)));
}

/// Runs the command with `--json`, and returns the JSON that it prints. Fails the test if the
/// command fails.
[[nodiscard]] inline nlohmann::json look_json(TestClient& test, std::vector<std::string> words) {
  words.emplace_back("--json");
  const Result result = look(test, std::move(words));
  INFO(result.output);
  REQUIRE(result.status == 0);
  const auto line = result.output.find('{');
  REQUIRE(line != std::string::npos);
  return nlohmann::json::parse(result.output.substr(line));
}

}  // namespace custodian::tests
