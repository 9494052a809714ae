#pragma once

/// \file
/// SQLite's C interface as objects: a connection, a statement, a transaction. Values are bound, and
/// never part of a statement's text.
///
/// Threads: one at a time, for a connection and all objects that are made with it. The connection
/// must outlive its statements and transactions.

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace sqlite {

class Error : public std::runtime_error {
 public:
  Error(sqlite3* connection, const std::string& what)
      : std::runtime_error{what + ": " + sqlite3_errmsg(connection)} {}
};

class Connection {
 public:
  /// Makes the file if it is not there. `patience` is how long a statement waits for other
  /// processes' transactions. Throws Error.
  Connection(const std::string& file, std::chrono::milliseconds patience) : patience_{patience} {
    sqlite3* opened = nullptr;
    const int status = sqlite3_open(file.c_str(), &opened);
    handle_.reset(opened);  // SQLite wants a handle closed even if opening failed
    if (status != SQLITE_OK) throw Error{opened, file};
    sqlite3_busy_timeout(opened, static_cast<int>(patience.count()));
  }

  [[nodiscard]] sqlite3* get() const noexcept { return handle_.get(); }

  /// Runs statements without values, separated by semicolons. Throws Error.
  void execute(const char* statements) {
    if (sqlite3_exec(get(), statements, nullptr, nullptr, nullptr) != SQLITE_OK)
      throw Error{get(), "SQLite"};
  }

  /// Turns on the write-ahead log: from then on readers do not wait for a writer, nor a writer for
  /// readers. Throws Error.
  void use_write_ahead_log() {
    // Another process may do the same at this moment. SQLite does not wait for that process, but
    // fails with SQLITE_BUSY; so the loop waits.
    const auto end = std::chrono::steady_clock::now() + patience_;
    for (;;) {
      const int status =
          sqlite3_exec(get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
      if (status == SQLITE_OK) return;
      if (status != SQLITE_BUSY || std::chrono::steady_clock::now() >= end)
        throw Error{get(), "SQLite"};
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  }

  /// The number of rows that the last INSERT, UPDATE or DELETE has inserted, changed or deleted.
  [[nodiscard]] int changes() const noexcept { return sqlite3_changes(get()); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const noexcept { sqlite3_close_v2(connection); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::chrono::milliseconds patience_;
};

/// A statement and its rows:
/// `for (Statement rows{connection, "SELECT a FROM t WHERE b = ?", b}; rows.step();) rows.text(0)`
class Statement {
 public:
  /// Binds the values to the text's question marks, in order. Throws Error.
  template <typename... Values>
  explicit Statement(const Connection& connection, const char* text, const Values&... values)
      : connection_{connection.get()} {
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(connection_, text, -1, &prepared, nullptr));
    handle_.reset(prepared);
    int position = 0;
    (bind(++position, values), ...);
  }

  /// Goes to the first row, or to the next. Returns false if there is none. Throws Error.
  bool step() {
    const int status = sqlite3_step(handle_.get());
    if (status != SQLITE_ROW && status != SQLITE_DONE) check(status);
    return status == SQLITE_ROW;
  }

  // `column` counts from 0.
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
  }
  [[nodiscard]] std::int64_t integer(int column) const {
    return sqlite3_column_int64(handle_.get(), column);
  }
  [[nodiscard]] std::string text(int column) const {
    const unsigned char* bytes = sqlite3_column_text(handle_.get(), column);
    return bytes == nullptr ? "" : reinterpret_cast<const char*>(bytes);
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };

  void bind(int position, std::int64_t value) {
    check(sqlite3_bind_int64(handle_.get(), position, value));
  }
  void bind(int position, const std::string& value) {
    check(sqlite3_bind_text(handle_.get(), position, value.c_str(), static_cast<int>(value.size()),
                            SQLITE_TRANSIENT));
  }
  void check(int status) const {
    if (status != SQLITE_OK) throw Error{connection_, "SQLite"};
  }

  sqlite3* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// Runs a statement to its end. Throws Error.
template <typename... Values>
void run(const Connection& connection, const char* text, const Values&... values) {
  Statement statement{connection, text, values...};
  while (statement.step()) {
  }
}

/// A transaction: all of its changes are applied, or none. From its beginning no other connection
/// can write, so that its reads stay true until its end.
class Transaction {
 public:
  /// Waits for transactions of other processes, for as long as the connection's patience. Throws
  /// Error.
  explicit Transaction(Connection& connection) : connection_{connection} {
    connection_.execute("BEGIN IMMEDIATE");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  /// Rolls the transaction back, unless it was committed.
  ~Transaction() {
    if (!committed_) sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

  void commit() {
    connection_.execute("COMMIT");
    committed_ = true;
  }

 private:
  Connection& connection_;
  bool committed_ = false;
};

}  // namespace sqlite
