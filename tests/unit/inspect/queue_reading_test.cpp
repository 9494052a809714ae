#include "inspect/queue_reading.hpp"

#include <algorithm>

#include "support/catch.hpp"

namespace custodian::tests::queue_reading_test {
namespace {

using namespace recipes_detail;

const std::string uuid = "_c_01234567-89ab-cdef-0123-456789abcdef-";

std::vector<std::string> names_of(const QueueReading& reading) {
  std::vector<std::string> names;
  for (const Standpoint& each : reading.standpoints) names.push_back(each.name);
  return names;
}

void check_standpoint(const Standpoint& each, Claim claim, Standing standing, std::size_t ahead) {
  INFO(each.name);
  CHECK(each.claim == claim);
  CHECK(each.standing == standing);
  CHECK(each.ahead == ahead);
}

TEST_CASE("a mutex's queue is told from its names, and its first one holds") {
  const QueueReading reading =
      read_queues({uuid + "lock-0000000012", "lock-0000000003", "abc__lock__0000000007"});
  CHECK(names_of(reading) == std::vector<std::string>{"lock-0000000003", "abc__lock__0000000007",
                                                      uuid + "lock-0000000012"});
  check_standpoint(reading.standpoints[0], Claim::mutex, Standing::holds, 0);
  check_standpoint(reading.standpoints[1], Claim::mutex, Standing::waits, 1);
  check_standpoint(reading.standpoints[2], Claim::mutex, Standing::waits, 2);
  CHECK(reading.standpoints[1].profile == NamingProfile::kazoo);
}

TEST_CASE("readers hold beside each other, and wait for the writers ahead of them only") {
  const QueueReading reading =
      read_queues({uuid + "__READ__0000000001", uuid + "__READ__0000000002",
                   uuid + "__WRIT__0000000003", uuid + "__READ__0000000004"});
  REQUIRE(reading.standpoints.size() == 4);
  check_standpoint(reading.standpoints[0], Claim::read, Standing::holds, 0);
  check_standpoint(reading.standpoints[1], Claim::read, Standing::holds, 0);
  check_standpoint(reading.standpoints[2], Claim::write, Standing::waits, 2);
  check_standpoint(reading.standpoints[3], Claim::read, Standing::waits, 1);
}

TEST_CASE("kazoo's exclusive locks are writers where its readers are, and mutexes elsewhere") {
  const QueueReading alone = read_queues({"abc__lock__0000000001"});
  REQUIRE(alone.standpoints.size() == 1);
  check_standpoint(alone.standpoints[0], Claim::mutex, Standing::holds, 0);
  const QueueReading together = read_queues({"abc__lock__0000000001", "abd__rlock__0000000002"});
  REQUIRE(together.standpoints.size() == 2);
  check_standpoint(together.standpoints[0], Claim::write, Standing::holds, 0);
  check_standpoint(together.standpoints[1], Claim::read, Standing::waits, 1);
}

TEST_CASE("candidates of a latch and permits are told, and permits do not exclude each other") {
  const QueueReading latch = read_queues({uuid + "latch-0000000001", uuid + "latch-0000000000"});
  REQUIRE(latch.standpoints.size() == 2);
  check_standpoint(latch.standpoints[0], Claim::leadership, Standing::holds, 0);
  check_standpoint(latch.standpoints[1], Claim::leadership, Standing::waits, 1);
  const QueueReading permits = read_queues({uuid + "lease-0000000001", uuid + "lease-0000000000"});
  REQUIRE(permits.standpoints.size() == 2);
  check_standpoint(permits.standpoints[0], Claim::permit, Standing::holds, 0);
  check_standpoint(permits.standpoints[1], Claim::permit, Standing::holds, 0);
}

TEST_CASE("two queues at one path are two, and each has its first") {
  const QueueReading reading = read_queues({"lock-0000000005", "__WRIT__0000000001"});
  REQUIRE(reading.standpoints.size() == 2);
  CHECK(std::ranges::all_of(reading.standpoints, [](const Standpoint& each) {
    return each.standing == Standing::holds && each.ahead == 0;
  }));
}

TEST_CASE("a name without a number makes it unclear whether the first one holds") {
  const QueueReading reading =
      read_queues({"lock-abc", "lock-0000000001", "lock-0000000002", "notes"});
  CHECK(reading.malformed == std::vector<std::string>{"lock-abc"});
  CHECK(reading.foreign == std::vector<std::string>{"notes"});
  REQUIRE(reading.standpoints.size() == 2);
  check_standpoint(reading.standpoints[0], Claim::mutex, Standing::unclear, 0);
  check_standpoint(reading.standpoints[1], Claim::mutex, Standing::waits, 1);
}

TEST_CASE("a name without a number stops its own queue, and no other") {
  const QueueReading reading = read_queues({"latch-", "lock-0000000001"});
  CHECK(reading.malformed == std::vector<std::string>{"latch-"});
  REQUIRE(reading.standpoints.size() == 1);
  check_standpoint(reading.standpoints[0], Claim::mutex, Standing::holds, 0);
}

TEST_CASE("a number at the end of the counter makes it unclear") {
  const QueueReading reading = read_queues({"lock-2147483647"});
  REQUIRE(reading.standpoints.size() == 1);
  check_standpoint(reading.standpoints[0], Claim::mutex, Standing::unclear, 0);
}

TEST_CASE("nobody is in an empty listing, and strange names are foreign, in order") {
  CHECK(read_queues({}).standpoints.empty());
  const QueueReading reading = read_queues({"zebra", "", "locks", "leases"});
  CHECK(reading.standpoints.empty());
  CHECK(reading.foreign == std::vector<std::string>{"", "leases", "locks", "zebra"});
}

TEST_CASE("who has left the line for permits has its permit, whatever the maximum is said to be") {
  QueueReading permits = read_queues({"lease-0000000001", "lease-0000000002"});
  judge_permit(permits, {1, false}, 1);
  check_standpoint(permits.standpoints[1], Claim::permit, Standing::holds, 0);
}

TEST_CASE("who is taking permits has those within the maximum, if that is known") {
  QueueReading permits = read_queues({"lease-0000000001", "lease-0000000002", "lease-0000000003"});
  judge_permit(permits, {1, true}, 2);
  judge_permit(permits, {2, true}, 2);
  check_standpoint(permits.standpoints[1], Claim::permit, Standing::holds, 0);
  check_standpoint(permits.standpoints[2], Claim::permit, Standing::waits, 1);
  judge_permit(permits, {0, true}, 0);
  check_standpoint(permits.standpoints[0], Claim::permit, Standing::unclear, 0);
}

TEST_CASE("a permit without a number counts as lower than all, and no waiting helps") {
  QueueReading permits = read_queues({"lease-", "lease-0000000002"});
  judge_permit(permits, {0, true}, 1);
  check_standpoint(permits.standpoints[0], Claim::permit, Standing::unclear, 0);
}

}  // namespace
}  // namespace custodian::tests::queue_reading_test
