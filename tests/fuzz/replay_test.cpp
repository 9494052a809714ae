/// \file
/// Replays the kept inputs in every build: those written by hand, and those that fuzzing found and
/// that have been fixed.

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "fuzz.hpp"
#include "support/catch.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& file) {
  std::ostringstream content;
  content << std::ifstream{file, std::ios::binary}.rdbuf();
  return std::move(content).str();
}

TEST_CASE("inputs that are kept break no promise") {
  for (const Target& target : targets) {
    DYNAMIC_SECTION(target.name) {
      std::size_t inputs = 0;
      for (const auto& file :
           fs::directory_iterator{fs::path{CUSTODIAN_FUZZ_CORPUS} / target.name}) {
        INFO(file.path().string());
        CHECK_NOTHROW(target.run(content_of(file.path())));
        ++inputs;
      }
      CHECK(inputs > 0);
    }
  }
}

TEST_CASE("every target tries an empty input, and each byte alone") {
  for (const Target& target : targets) {
    INFO(target.name);
    CHECK_NOTHROW(target.run({}));
    for (int byte = 0; byte != 256; ++byte) {
      const std::string input(1, static_cast<char>(byte));
      INFO(byte);
      CHECK_NOTHROW(target.run(input));
    }
  }
}

TEST_CASE("every folder of inputs has a target") {
  std::set<std::string> names;
  for (const Target& target : targets) names.emplace(target.name);
  for (const auto& folder : fs::directory_iterator{CUSTODIAN_FUZZ_CORPUS}) {
    INFO(folder.path().string());
    CHECK(names.contains(folder.path().filename().string()));
  }
}

}  // namespace
}  // namespace custodian::fuzz
