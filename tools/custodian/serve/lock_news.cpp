#include "serve/lock_news.hpp"

#include <functional>
#include <utility>

#include "queue/lock_list_view.hpp"
#include "queue/queue_view.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

std::size_t digest_of(const ListedLock& lock) {
  Json all = Json::array();
  for (const Inspected& each : lock.contenders) all.push_back(json_of(each, 0));
  return std::hash<std::string>{}(to_line(all));
}

}  // namespace

void LockNews::take(std::shared_ptr<const LockWalk> walk) {
  ++version_;
  last_ = std::move(walk);
  all_.reset();
  changes_.reset();
  removed_.clear();
  for (auto& [path, entry] : entries_) entry.is_new = false;
  if (!last_->error.empty()) return;
  std::map<std::string, Entry> now;
  for (const ListedLock& lock : last_->listing.locks) {
    Entry entry{.text = to_line(json_of(lock)), .digest = digest_of(lock)};
    const auto before = entries_.find(lock.path);
    entry.is_new = before == entries_.end() || before->second.digest != entry.digest ||
                   before->second.text != entry.text;
    now.emplace(lock.path, std::move(entry));
  }
  for (const auto& [path, entry] : entries_) {
    if (!now.contains(path)) removed_.push_back(path);
  }
  entries_ = std::move(now);
}

std::shared_ptr<const std::string> LockNews::event_after(std::optional<std::uint64_t> seen,
                                                         std::size_t browsers) {
  const bool changes_will_do = seen && *seen + 1 == version_;
  auto& shared = changes_will_do ? changes_ : all_;
  if (!shared) {
    shared = std::make_shared<const std::string>(
        event(changes_will_do ? Scope::changes : Scope::all, browsers));
  }
  return shared;
}

std::string LockNews::event(Scope scope, std::size_t browsers) const {
  Json head{{"version", version_},
            {"full", scope == Scope::all},
            {"at", iso_time(last_->at)},
            {"error", last_->error.empty() ? Json(nullptr) : Json(last_->error)},
            {"every_ms", every_.count()},
            {"walk_ms", last_->took.count()},
            {"nodes", last_->listing.nodes},
            {"browsers", browsers},
            {"remarks", remarks_on(last_->listing)},
            {"cycles", json_of_cycles(*last_)["cycles"]},
            {"removed", scope == Scope::all ? std::vector<std::string>{} : removed_}};
  // The locks are JSON text already.
  std::string text = "event: locks\ndata: " + to_line(head);
  text.pop_back();
  text += ",\"locks\":[";
  const char* between = "";
  for (const auto& [path, entry] : entries_) {
    if (scope == Scope::changes && !entry.is_new) continue;
    text.append(std::exchange(between, ",")).append(entry.text);
  }
  return text + "]}\n\n";
}

}  // namespace custodian::cli
