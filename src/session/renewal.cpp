#include "session/renewal.hpp"

#include <sys/stat.h>

#include <utility>

namespace custodian::detail {
namespace {

std::chrono::nanoseconds time_of(const timespec& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

FileStates states_of(const std::vector<std::string>& files) {
  FileStates states;
  for (const std::string& file : files) {
    struct stat found {};
    FileState& state = states[file];
    if (::stat(file.c_str(), &found) != 0) continue;
    state = {.device = found.st_dev,
             .inode = found.st_ino,
             .size = found.st_size,
             .modified = time_of(found.st_mtim),
             .changed = time_of(found.st_ctim)};
  }
  return states;
}

Renewal::Renewal(FileStates in_use) : in_use_{std::move(in_use)} {}

bool Renewal::is_due(const FileStates& states, Time now) const {
  if (states == in_use_) return false;
  return !failure_ || failure_->states != states || now - failure_->time >= pause;
}

void Renewal::succeeded(FileStates states) {
  in_use_ = std::move(states);
  failure_.reset();
}

bool Renewal::failed(FileStates states, std::string reason, Time now) {
  const bool is_news = !failure_ || failure_->states != states || failure_->reason != reason;
  failure_ = Failure{std::move(states), std::move(reason), now};
  return is_news;
}

}  // namespace custodian::detail
