#pragma once

/// \file
/// ViewLog records what a function of transact() has read and written, and makes a transaction of
/// it. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "custodian/error.hpp"
#include "custodian/transaction.hpp"

namespace custodian::recipes_detail {

class ViewLog {
 public:
  /// What the function sees of a node: its data, or that it does not exist.
  using Data = std::optional<std::string>;

  /// The data that were read or written before; nothing if the node has to be read.
  [[nodiscard]] std::optional<Data> known(const std::string& path) const;
  /// Notes data that were read, and returns the data that the view shows: data that it has shown or
  /// written before stay, for the function's writes may depend on them. A missing node has no
  /// version.
  Data note_read(const std::string& path, Data data, std::optional<std::int32_t> version);

  /// Errors: no_node or node_exists, by what the view shows of the node.
  [[nodiscard]] error_code set(const std::string& path, std::string data);
  [[nodiscard]] error_code create(const std::string& path, std::string data);
  [[nodiscard]] error_code remove(const std::string& path);

  /// The transaction that checks all that was read, and writes. Empty if nothing was read or
  /// written.
  [[nodiscard]] Transaction transaction() const;
  /// Whether the operation of transaction() at this index has failed because another client has
  /// changed what was read.
  [[nodiscard]] bool is_conflict(std::size_t index, const error_code& error) const;

 private:
  /// What the transaction relies on for one node.
  struct Read {
    std::optional<std::int32_t> version{};
    bool is_written = false;  ///< a write of the transaction checks the version
  };
  /// The version for the first write to a node that was read; any_version otherwise.
  [[nodiscard]] std::int32_t claim(const std::string& path);
  /// Adds a write to the transaction.
  void write(const std::string& path, Data now, TransactionOperation operation);

  std::map<std::string, Data> seen_;
  std::map<std::string, Read> reads_;
  std::vector<TransactionOperation> writes_;
  std::vector<bool> guarded_;
};

}  // namespace custodian::recipes_detail
