/// \file
/// MariaDB's contestants: custodian-bench-mariadb get-lock|for-update HOST:PORT.
///
/// get-lock    SELECT GET_LOCK, SELECT RELEASE_LOCK
/// for-update  START TRANSACTION, SELECT ... FOR UPDATE of a row of an InnoDB table, COMMIT
///
/// Each thread has its own connection.

#include <mysql.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "driver.hpp"

namespace custodian::bench {
namespace {

class Connection {
 public:
  explicit Connection(const std::string& address)
      : connection_{::mysql_init(nullptr), &::mysql_close} {
    const std::size_t colon = address.rfind(':');
    if (::mysql_real_connect(connection_.get(), address.substr(0, colon).c_str(), "root", nullptr,
                             nullptr, static_cast<unsigned>(std::stoi(address.substr(colon + 1))),
                             nullptr, 0) == nullptr) {
      fail();
    }
  }

  /// The first column of the first row; empty if there is none.
  std::string ask(const std::string& statement) {
    if (::mysql_real_query(connection_.get(), statement.data(), statement.size()) != 0) fail();
    const std::unique_ptr<MYSQL_RES, decltype(&::mysql_free_result)> result{
        ::mysql_store_result(connection_.get()), &::mysql_free_result};
    if (!result) return {};
    const MYSQL_ROW row = ::mysql_fetch_row(result.get());
    return row == nullptr || *row == nullptr ? "" : *row;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error{std::string{"MariaDB: "} + ::mysql_error(connection_.get())};
  }

  std::unique_ptr<MYSQL, decltype(&::mysql_close)> connection_;
};

class GetLock final : public Locker {
 public:
  GetLock(const std::string& address, const std::string& name)
      : connection_{address},
        get_{"SELECT GET_LOCK('" + name + "', 3600)"},
        release_{"SELECT RELEASE_LOCK('" + name + "')"} {}
  void lock() override { ask(get_); }
  void unlock() override { ask(release_); }

 private:
  void ask(const std::string& statement) {
    if (connection_.ask(statement) != "1") throw std::runtime_error{"MariaDB: " + statement};
  }

  Connection connection_;
  const std::string get_;
  const std::string release_;
};

class ForUpdate final : public Locker {
 public:
  ForUpdate(const std::string& address, const std::string& name) : connection_{address} {
    connection_.ask("CREATE DATABASE IF NOT EXISTS bench");
    connection_.ask("USE bench");
    connection_.ask(
        "CREATE TABLE IF NOT EXISTS locks (name VARCHAR(64) PRIMARY KEY) ENGINE = InnoDB");
    connection_.ask("INSERT IGNORE INTO locks VALUES ('" + name + "')");
    connection_.ask("SET SESSION innodb_lock_wait_timeout = 3600");
    select_ = "SELECT name FROM locks WHERE name = '" + name + "' FOR UPDATE";
  }
  void lock() override {
    connection_.ask("START TRANSACTION");
    if (connection_.ask(select_).empty()) throw std::runtime_error{"MariaDB: no row"};
  }
  void unlock() override { connection_.ask("COMMIT"); }

 private:
  Connection connection_;
  std::string select_;
};

class MariaDb final : public Contestant {
 public:
  MariaDb(bool rows, std::string address) : rows_{rows}, address_{std::move(address)} {}

  std::unique_ptr<Locker> locker(const Task& task, int /*index*/) override {
    if (rows_) return std::make_unique<ForUpdate>(address_, task.path);
    return std::make_unique<GetLock>(address_, task.path);
  }

 private:
  const bool rows_;
  const std::string address_;
};

}  // namespace
}  // namespace custodian::bench

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  custodian::bench::MariaDb contestant{std::string_view{argv[1]} == "for-update", argv[2]};
  return custodian::bench::serve(contestant);
}
