#include "custodian/authoring/uuid.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "custodian/authoring/owned_node.hpp"
#include "support/catch.hpp"

namespace custodian::tests::uuid_test {

using custodian::make_uuid;

TEST_CASE("a uuid is random, version 4, in lower case", "[uuid]") {
  for (int i = 0; i != 1000; ++i) {
    const auto uuid = make_uuid();
    REQUIRE(uuid.size() == 36);
    for (std::size_t at = 0; at != uuid.size(); ++at) {
      const bool hyphen = at == 8 || at == 13 || at == 18 || at == 23;
      REQUIRE(std::string{hyphen ? "-" : "0123456789abcdef"}.find(uuid[at]) != std::string::npos);
    }
    REQUIRE(uuid[14] == '4');
    REQUIRE(std::string{"89ab"}.find(uuid[19]) != std::string::npos);
  }
}

TEST_CASE("threads draw different uuids", "[uuid]") {
  constexpr std::size_t count = 2000;
  std::array<std::vector<std::string>, 4> drawn;
  std::vector<std::thread> threads;
  for (auto& mine : drawn) {
    threads.emplace_back([&mine] {
      while (mine.size() != count) {
        mine.push_back(make_uuid());
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  std::set<std::string> all;
  for (const auto& mine : drawn) {
    all.insert(mine.begin(), mine.end());
  }
  CHECK(all.size() == count * drawn.size());
}

TEST_CASE("a forked child draws other uuids than its parent", "[uuid]") {
  (void)make_uuid();
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto uuid = make_uuid();
    const auto written = write(ends[1], uuid.data(), uuid.size());
    _exit(written == 36 ? 0 : 1);
  }
  const auto of_parent = make_uuid();
  close(ends[1]);
  std::array<char, 36> of_child{};
  const auto received = read(ends[0], of_child.data(), of_child.size());
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  REQUIRE(received == 36);
  CHECK(of_parent != std::string(of_child.data(), of_child.size()));
}

}  // namespace custodian::tests::uuid_test
