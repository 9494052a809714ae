// The example that falls back to a lock in a database, with a real database.

#include "program.hpp"
#include "support/catch.hpp"
#include "support/test_client.hpp"

#if defined CUSTODIAN_MARIADBD

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

namespace custodian::tests::mariadb_test {
namespace {

using namespace std::chrono_literals;

constexpr auto nowhere = "127.0.0.1:1";

/// A database server without tables, which is enough for locks. It has a socket in a directory of
/// its own, and no network, no accounts and no other configuration.
class MariaDb {
 public:
  MariaDb()
      : server_{CUSTODIAN_TIMEOUT, boost::process::args(words()),
                boost::process::std_in<boost::process::null,
                                       (boost::process::std_out & boost::process::std_err)>
                    directory_.file("log")} {
    const Deadline deadline{30s};
    while (!answers()) {
      if (deadline.passed() || !server_->running()) {
        throw std::runtime_error{"mariadbd does not answer:\n" + log()};
      }
      std::this_thread::sleep_for(20ms);
    }
  }

  [[nodiscard]] std::string socket() const { return directory_.file("s"); }

 private:
  [[nodiscard]] std::vector<std::string> words() const {
    std::filesystem::create_directory(directory_.file("data"));
    std::vector<std::string> words{"--kill-after=5",
                                   "110",  // a timeout ends it, whatever happens to the test
                                   CUSTODIAN_MARIADBD,
                                   "--no-defaults",
                                   "--skip-grant-tables",
                                   "--skip-networking",
                                   "--innodb=OFF",
                                   "--default-storage-engine=MyISAM",
                                   "--datadir=" + directory_.file("data"),
                                   "--tmpdir=" + directory_.file("data"),
                                   "--socket=" + socket(),
                                   "--pid-file=" + directory_.file("pid")};
    // The server refuses to run as root without --user.
    if (::geteuid() == 0) words.emplace_back("--user=root");
    return words;
  }
  [[nodiscard]] bool answers() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = socket();
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error{path + ": too long"};
    path.copy(address.sun_path, path.size());
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected =
        ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(descriptor);
    return connected;
  }
  [[nodiscard]] std::string log() const {
    std::ifstream file{directory_.file("log")};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  Directory directory_;  // outlives the server
  Child server_;
};

/// The destructor removes the nodes that the example has created on the server.
struct OrdersGo {
  OrdersGo() = default;
  OrdersGo(const OrdersGo&) = delete;
  OrdersGo& operator=(const OrdersGo&) = delete;
  ~OrdersGo() {
    try {
      Client client{options_for(connect_string())};
      client.remove(
          "/examples/orders",
          {.missing = Missing::is_fine, .descendants = Descendants::are_removed, .deadline = 10s});
    } catch (const Error&) {
      // The nodes are removed with the server anyway.
    }
  }
};

TEST_CASE("the example of a fallback packs under the lock, and without ZooKeeper under MariaDB's") {
  const MariaDb database;
  const auto pack = [&](const std::string& servers, const std::string& order) {
    const Result result =
        run(CUSTODIAN_EXAMPLE_WITH_LOCK_MARIADB, {servers, database.socket(), order});
    INFO(result.output);
    CHECK(result.status == 0);
    return result.output;
  };
  // On a busy machine it may take longer to connect than the example waits.
  const auto packs_under_lock = [&](const std::string& order) {
    return eventually([&] {
      return pack(to_string(server_endpoint()), order) == "packing " + order + " under the lock\n";
    });
  };
  const OrdersGo orders_go;
  CHECK(packs_under_lock("17"));
  CHECK(pack(nowhere, "17") == "packing 17 under the fallback\n");

  // A process that packs an order excludes others from this order, but not from another one.
  Program packing{CUSTODIAN_EXAMPLE_WITH_LOCK_MARIADB, {nowhere, database.socket(), "17", "60"}};
  REQUIRE(packing.says("packing 17 under the fallback"));
  CHECK(pack(nowhere, "17") == "somebody else packs 17\n");
  CHECK(pack(nowhere, "18") == "packing 18 under the fallback\n");
  // The two locks do not exclude each other, as documented.
  CHECK(packs_under_lock("17"));
  // The database releases the lock of a process that has died.
  packing.signal(SIGTERM);
  static_cast<void>(packing.result());
  CHECK(pack(nowhere, "17") == "packing 17 under the fallback\n");
  // Text in a name is only data for the database, whatever it is.
  CHECK(pack(nowhere, "';--/") == "packing ';--/ under the fallback\n");
}

TEST_CASE("the example of a fallback says what it lacks") {
  const Result without = run(CUSTODIAN_EXAMPLE_WITH_LOCK_MARIADB, {});
  CHECK(without.status == 2);
  CHECK(contains(without.output, "usage: "));
  const Directory directory;
  const Result result =
      run(CUSTODIAN_EXAMPLE_WITH_LOCK_MARIADB, {nowhere, directory.file("none"), "17"});
  INFO(result.output);
  CHECK(result.status == 1);
  CHECK(contains(result.output, "MariaDB: "));
}

}  // namespace
}  // namespace custodian::tests::mariadb_test

#else

TEST_CASE("the example of a fallback packs under the lock, and without ZooKeeper under MariaDB's") {
  CUSTODIAN_SKIP("needs MariaDB: libmariadb-dev, mariadb-server-core");
}

#endif
