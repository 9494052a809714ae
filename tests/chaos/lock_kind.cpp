#include "lock_kind.hpp"

namespace custodian::chaos {

std::optional<LockKind> kind_of(std::string_view lock) {
  const auto is = [&](std::string_view kind) {
    return lock.starts_with(kind) && (lock.size() == kind.size() || lock[kind.size()] == '-');
  };
  if (is("mutex-batch")) return LockKind::mutex_batch;
  if (is("mutex-kept")) return LockKind::mutex_kept;
  if (is("mutex")) return LockKind::mutex;
  if (is("read-write-shared")) return LockKind::read_write_shared;
  if (is("read-write")) return LockKind::read_write;
  if (is("semaphore-mutex")) return LockKind::semaphore_mutex;
  if (is("semaphore")) return LockKind::semaphore;
  if (is("leader-latch")) return LockKind::leader_latch;
  if (is("leader-selector")) return LockKind::leader_selector;
  return std::nullopt;
}

std::string_view share_of(LockKind kind, Use use) {
  // A writer takes all shares. There are never as many as 1000 readers.
  if (has_readers(kind)) return use == Use::exclusive ? "1000/1000" : "1/1000";
  static_assert(permits == 2);
  return kind == LockKind::semaphore ? "1/2" : "1/1";
}

std::vector<std::string> parents_of_contenders(const std::string& root, const std::string& lock) {
  const std::string path = root + "/" + lock;
  const LockKind kind = kind_of(lock).value_or(LockKind::mutex);
  const bool counts = kind == LockKind::semaphore || kind == LockKind::semaphore_mutex;
  if (counts) return {path + "/locks", path + "/leases"};
  return {path};
}

}  // namespace custodian::chaos
