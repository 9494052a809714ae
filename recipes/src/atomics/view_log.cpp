#include "atomics/view_log.hpp"

#include <algorithm>
#include <utility>

namespace custodian::recipes_detail {

std::optional<ViewLog::Data> ViewLog::known(const std::string& path) const {
  const auto found = seen_.find(path);
  if (found == seen_.end()) return std::nullopt;
  return std::optional<Data>{std::in_place, found->second};
}

ViewLog::Data ViewLog::note_read(const std::string& path, Data data,
                                 std::optional<std::int32_t> version) {
  const auto [shown, is_new] = seen_.try_emplace(path, std::move(data));
  if (is_new) reads_[path] = {.version = version};
  return shown->second;
}

std::int32_t ViewLog::claim(const std::string& path) {
  const auto read = reads_.find(path);
  const bool guards = read != reads_.end() && !read->second.is_written;
  guarded_.push_back(guards);
  if (!guards) return any_version;
  read->second.is_written = true;
  return read->second.version.value_or(any_version);
}

void ViewLog::write(const std::string& path, Data now, TransactionOperation operation) {
  seen_[path] = std::move(now);
  writes_.push_back(std::move(operation));
}

error_code ViewLog::set(const std::string& path, std::string data) {
  if (const auto now = known(path); now && !*now) return ServerErrc::no_node;
  const std::int32_t version = claim(path);
  write(path, data, custodian::set(path, data, version));
  return {};
}

error_code ViewLog::create(const std::string& path, std::string data) {
  if (const auto now = known(path); now && *now) return ServerErrc::node_exists;
  static_cast<void>(claim(path));
  write(path, data, custodian::create(path, data));
  return {};
}

error_code ViewLog::remove(const std::string& path) {
  if (const auto now = known(path); now && !*now) return ServerErrc::no_node;
  const std::int32_t version = claim(path);
  write(path, std::nullopt, custodian::remove(path, version));
  return {};
}

Transaction ViewLog::transaction() const {
  Transaction all;
  for (const auto& [path, read] : reads_) {
    if (read.is_written) continue;
    if (read.version) {
      all.push_back(check(path, *read.version));
    } else {
      // ZooKeeper has no check for a missing node: the node is created and removed instead.
      all.push_back(custodian::create(path));
      all.push_back(custodian::remove(path));
    }
  }
  all.insert(all.end(), writes_.begin(), writes_.end());
  return all;
}

bool ViewLog::is_conflict(std::size_t index, const error_code& error) const {
  const std::size_t writes_from = transaction().size() - writes_.size();
  const bool is_guarded = index < writes_from || guarded_.at(index - writes_from);
  const bool has_changed = error == ServerErrc::bad_version || error == ServerErrc::node_exists ||
                           error == ServerErrc::no_node;
  if (!is_guarded || !has_changed) return false;
  // A create that finds no parent is no conflict: its node is missing, as it was when it was read.
  const auto all = transaction();
  const bool creates = std::holds_alternative<transaction::Create>(all.at(index));
  return !(creates && error == ServerErrc::no_node);
}

}  // namespace custodian::recipes_detail
