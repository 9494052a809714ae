#include "contestants.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "custodian/version.hpp"
#include "run_result.hpp"

namespace custodian::bench {
namespace {

const std::string quorum = "a quorum's log on disk";
const std::string zookeepers = "ZooKeeper's protocol";

std::string lacks(const std::string& program, const std::string& packages) {
  if (!program.empty()) return {};
  return "apt-get install " + packages + ", then configure and build again";
}

/// What to install for a contestant that lacks its driver or its server; empty if it has both.
std::string lacks(const std::string& driver, const std::string& server,
                  const std::string& packages) {
  if (driver.empty()) return lacks(driver, packages);
  return find_program(server).empty() ? "apt-get install " + packages : "";
}

std::vector<ContestantEntry> on_zookeeper() {
  const std::string classpath = CUSTODIAN_BENCH_CURATOR_CLASSPATH;
  const std::string python = CUSTODIAN_BENCH_PYTHON;
  const std::string version{custodian::version()};
  return {
      {.name = "ours",
       .does = "InterProcessMutex::acquire() and release() in a thread; the release is not "
               "awaited; of numbers DistributedAtomicLong, of barriers DistributedBarrier",
       .durability = quorum,
       .route = zookeepers,
       .program = CUSTODIAN_BENCH_OURS,
       .arguments = {"threads"},
       .version = version},
      {.name = "ours-async",
       .does =
           "InterProcessMutex::async_acquire() and release(), the client on the same thread, in "
           "the program's io_context; the release is not awaited",
       .durability = quorum,
       .route = zookeepers,
       .program = CUSTODIAN_BENCH_OURS,
       .arguments = {"context"},
       .version = version},
      {.name = "ours-once",
       .does = "DistributedAtomicLong with Settle::exactly_once, where ours is without",
       .durability = quorum,
       .route = zookeepers,
       .program = CUSTODIAN_BENCH_OURS,
       .arguments = {"once"},
       .version = version},
      {.name = "ours-netty",
       .kind = Kind::zookeeper_netty,
       .does = "what ours does, with servers that have Netty's connections",
       .durability = quorum,
       .route = zookeepers,
       .program = CUSTODIAN_BENCH_OURS,
       .arguments = {"threads"},
       .version = version},
      {.name = "ours-tls",
       .kind = Kind::zookeeper_tls,
       .does = "what ours does, over TLS, which servers have with Netty's connections only",
       .durability = quorum,
       .route = zookeepers + " over TLS",
       .program = CUSTODIAN_BENCH_OURS,
       .arguments = {"threads"},
       .version = version},
      {.name = "floor",
       .does = "the C client alone: create and list together, delete not awaited; a watched "
               "predecessor's end is the grant, if it was the only one. No retries, no losses told",
       .durability = quorum,
       .route = zookeepers,
       .program = CUSTODIAN_BENCH_FLOOR,
       .arguments = {"pipelined"},
       .package = "libzookeeper-st2"},
      {.name = "floor-waiting",
       .does = "the C client alone: create, wait, list, wait, delete, wait; lists again when woken",
       .durability = quorum,
       .route = zookeepers,
       .program = CUSTODIAN_BENCH_FLOOR,
       .arguments = {"waiting"},
       .package = "libzookeeper-st2"},
      {.name = "floor-threads",
       .does =
           "no servers: threads hand on in turn, each asleep meanwhile; what batches cannot beat",
       .durability = "none",
       .route = "none",
       .program = CUSTODIAN_BENCH_THREADS,
       .version = version},
      // Java runs as in a server: it is warmed up before the rounds, and its compiler is not
      // limited.
      {.name = "curator",
       .does = "InterProcessMutex acquire() and release() in a thread; the delete is awaited; of "
               "numbers "
               "DistributedAtomicLong, with a pause of 1 ms before it tries again; of barriers "
               "DistributedBarrier",
       .durability = quorum,
       .route = zookeepers,
       .program = CUSTODIAN_BENCH_JAVA,
       .arguments = {"-XX:-UsePerfData", "-Xmx512m", "-Djava.awt.headless=true",
                     "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", classpath,
                     "CuratorBench"},
       .package = "libcurator-recipes-java",
       .absent = lacks(classpath, "default-jdk-headless libcurator-recipes-java")},
      {.name = "kazoo",
       .does = "Lock acquire() and release() in a thread; the delete is awaited",
       .durability = quorum,
       .route = zookeepers,
       .program = python,
       .arguments = {CUSTODIAN_BENCH_KAZOO},
       .package = "python3-kazoo",
       .absent = lacks(python, "python3-kazoo")},
  };
}

std::vector<ContestantEntry> on_redis() {
  const std::string driver = CUSTODIAN_BENCH_REDIS;
  const std::string absent = lacks(driver, "redis-server", "redis-server libhiredis-dev");
  const std::string plain =
      "SET NX PX and a Lua delete, each awaited; unfair: who finds it taken asks again after a "
      "random pause of up to 1 ms";
  const std::string lost = "none";
  const std::string hiredis = "Redis' protocol";
  return {
      {.name = "redis",
       .kind = Kind::redis,
       .does = plain,
       .durability = lost,
       .route = hiredis,
       .program = driver,
       .arguments = {"plain"},
       .package = "redis-server",
       .absent = absent},
      {.name = "redis-aof",
       .kind = Kind::redis_append_only,
       .does = plain,
       .durability = "append-only file, fsync always",
       .route = hiredis,
       .program = driver,
       .arguments = {"plain"},
       .package = "redis-server",
       .absent = absent},
      {.name = "redis-fair",
       .kind = Kind::redis,
       .does = "a queue as Redisson's fair lock has it: a Lua script each to acquire and release, "
               "each awaited; a waiter is told by publish, on a second connection",
       .durability = lost,
       .route = hiredis,
       .program = driver,
       .arguments = {"fair"},
       .package = "redis-server",
       .absent = absent},
  };
}

std::vector<ContestantEntry> on_others() {
  const std::string mariadb = CUSTODIAN_BENCH_MARIADB;
  const std::string etcd = CUSTODIAN_BENCH_ETCD;
  const std::string no_mariadb = lacks(mariadb, "mariadbd", "mariadb-server-core libmariadb-dev");
  const std::string memory = "none";
  const std::string protocol = "MariaDB's protocol";
  return {
      {.name = "mariadb-get-lock",
       .kind = Kind::mariadb,
       .does = "SELECT GET_LOCK and SELECT RELEASE_LOCK, each awaited",
       .durability = memory,
       .route = protocol,
       .program = mariadb,
       .arguments = {"get-lock"},
       .package = "mariadb-server-core",
       .absent = no_mariadb},
      {.name = "mariadb-for-update",
       .kind = Kind::mariadb,
       .does = "START TRANSACTION, SELECT ... FOR UPDATE of a row (InnoDB), COMMIT, each awaited",
       .durability = memory,
       .route = protocol,
       .program = mariadb,
       .arguments = {"for-update"},
       .package = "mariadb-server-core",
       .absent = no_mariadb},
      {.name = "etcd",
       .kind = Kind::etcd,
       .does = "its lock service: Lock and Unlock on a lease, each awaited; a thread keeps its "
               "connection (HTTP/1.1)",
       .durability = "one server's log on disk",
       .route = "JSON gateway, not gRPC",
       .program = etcd,
       .package = "etcd-server",
       .absent = lacks(etcd, "etcd", "etcd-server")},
  };
}

}  // namespace

std::vector<ContestantEntry> all_contestants() {
  std::vector<ContestantEntry> all = on_zookeeper();
  for (auto* more : {&on_redis, &on_others}) {
    for (ContestantEntry& entry : more()) all.push_back(std::move(entry));
  }
  return all;
}

ContestantEntry ours_before(const std::string& program) {
  ContestantEntry entry = on_zookeeper().front();
  entry.name = our_name_before;
  entry.does = "what ours does, by " + program;
  entry.program = program;
  entry.version = "of another build";
  return entry;
}

std::string package_version(const std::string& package) {
  const std::string command = "dpkg-query -W -f '${Version}' " + package + " 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> output{::popen(command.c_str(), "r"), &::pclose};
  std::array<char, 128> text{};
  if (!output || std::fgets(text.data(), text.size(), output.get()) == nullptr) return {};
  return text.data();
}

std::string find_program(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream directories{std::string{variable == nullptr ? "" : variable} + ":/usr/sbin"};
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (directory.empty()) continue;
    directory.append("/").append(name);
    if (::access(directory.c_str(), X_OK) == 0) return directory;
  }
  return {};
}

}  // namespace custodian::bench
