// Each order is packed by one process, even while ZooKeeper is away: then GET_LOCK of MariaDB, a
// database that all processes use, keeps the other processes out.
//
//   custodian-example-with_lock_mariadb 127.0.0.1:2181 /run/mysqld/mysqld.sock <order> [<seconds>]

#include <mysql.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "custodian/client.hpp"
#include "custodian/locks/path_of.hpp"
#include "custodian/locks/with_lock.hpp"

using namespace std::chrono_literals;

namespace {

/// A named lock of MariaDB, on a connection of its own. The database releases the lock when the
/// connection ends, even while the work goes on. The holder is not notified of that, since nothing
/// watches a fallback for its loss.
class MariaDbLock {
 public:
  MariaDbLock(std::string socket, std::string name)
      : socket_{std::move(socket)}, name_{std::move(name)} {
    // MariaDB would truncate a longer name, or refuse it.
    if (name_.size() > 64) throw std::invalid_argument{name_ + ": too long for a lock's name"};
  }
  MariaDbLock(const MariaDbLock&) = delete;
  MariaDbLock& operator=(const MariaDbLock&) = delete;
  ~MariaDbLock() { mysql_close(connection_); }

  void lock() {
    while (!try_lock_for(1h)) {
    }
  }
  bool try_lock_for(std::chrono::nanoseconds wait) {
    connect();
    std::string name(2 * name_.size() + 1, ' ');
    name.resize(mysql_real_escape_string(connection_, name.data(), name_.data(), name_.size()));
    const std::chrono::duration<double> seconds = wait;
    return ask("SELECT GET_LOCK('" + name + "', " + std::to_string(seconds.count()) + ")") == "1";
  }
  /// Closing the connection certainly releases the lock, and cannot fail.
  void unlock() { mysql_close(std::exchange(connection_, nullptr)); }

 private:
  void connect() {
    if (connection_ != nullptr) return;
    connection_ = mysql_init(nullptr);
    if (connection_ == nullptr) throw std::bad_alloc{};
    // The connection is silent during the work, and MariaDB closes a connection that is silent for
    // longer than wait_timeout.
    mysql_options(connection_, MYSQL_INIT_COMMAND, "SET SESSION wait_timeout = 31536000");
    if (mysql_real_connect(connection_, nullptr, "root", nullptr, nullptr, 0, socket_.c_str(), 0) ==
        nullptr) {
      fail();
    }
  }
  std::string ask(const std::string& statement) {
    if (mysql_real_query(connection_, statement.data(), statement.size()) != 0) fail();
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result{
        mysql_store_result(connection_), &mysql_free_result};
    if (!result) fail();
    const MYSQL_ROW row = mysql_fetch_row(result.get());
    // NULL means an error or a killed session; it does not mean that another session holds the
    // lock.
    if (row == nullptr || *row == nullptr) fail("no answer to " + statement);
    return *row;
  }
  [[noreturn]] void fail(std::string why = {}) {
    if (const std::string told = mysql_error(connection_); !told.empty()) why = told;
    unlock();
    throw std::runtime_error{"MariaDB: " + why};
  }

  const std::string socket_;
  const std::string name_;
  MYSQL* connection_ = nullptr;
};

/// Returns true if this process packed the order, and false if another process is packing it.
bool pack(const std::string& servers, const std::string& socket, const std::string& order,
          std::chrono::seconds work) {
  custodian::Client client{servers};
  const auto path = [](const std::string& number) {
    return custodian::path_of("/examples/orders/{}", number);
  };
  const custodian::WithLockOptions options{
      .wait = 5s,
      .connection_wait = 1s,
      .when_busy = custodian::Otherwise::skip,
      .fallback = custodian::Fallback::by_path(
          [&](const std::string& name) { return std::make_shared<MariaDbLock>(socket, name); })};
  const auto packed = custodian::locked(
      client, path, options, [&](const custodian::Lease& lease, const std::string& number) {
        std::cout << "packing " << number << (lease ? " under the lock" : " under the fallback")
                  << '\n'
                  << std::flush;
        std::this_thread::sleep_for(work);
      });
  return static_cast<bool>(packed(order));
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 4 && argc != 5) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...] socket order [seconds]\n";
    return 2;
  }
  try {
    const std::chrono::seconds work{argc == 5 ? std::stoi(argv[4]) : 0};
    if (!pack(argv[1], argv[2], argv[3], work))
      std::cout << "somebody else packs " << argv[3] << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
