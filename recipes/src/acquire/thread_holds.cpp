#include "acquire/thread_holds.hpp"

#include "custodian/error.hpp"

namespace custodian::recipes_detail {

bool ThreadHolds::enter_again(std::string_view path) {
  const std::lock_guard lock{mutex_};
  const auto found = holds_.find(std::this_thread::get_id());
  if (found == holds_.end()) return false;
  if (found->second.lost || found->second.lease.state() == LeaseState::lost) {
    throw Error{Errc::lock_lost, "lock", path, "this thread has lost it, and must unlock() first"};
  }
  ++found->second.count;
  return true;
}

void ThreadHolds::enter(Lease lease) {
  const std::lock_guard lock{mutex_};
  holds_.emplace(std::this_thread::get_id(), ThreadHold{std::move(lease)});
}

Lease ThreadHolds::leave(std::string_view path) {
  const std::lock_guard lock{mutex_};
  const auto found = holds_.find(std::this_thread::get_id());
  if (found == holds_.end()) {
    throw Error{make_error_code(boost::system::errc::operation_not_permitted), "unlock", path,
                "this thread does not hold it"};
  }
  if (--found->second.count > 0) return {};
  Lease last = std::move(found->second.lease);
  holds_.erase(found);
  return last;
}

std::pair<Lease, int> ThreadHolds::take() {
  const std::lock_guard lock{mutex_};
  const auto found = holds_.find(std::this_thread::get_id());
  if (found == holds_.end()) return {Lease{}, 0};
  std::pair<Lease, int> taken{std::move(found->second.lease), found->second.count};
  holds_.erase(found);
  return taken;
}

void ThreadHolds::put_back(Lease lease, int count) {
  const std::lock_guard lock{mutex_};
  const bool lost = !lease;
  holds_.emplace(std::this_thread::get_id(), ThreadHold{std::move(lease), count, lost});
}

int ThreadHolds::count() const {
  const std::lock_guard lock{mutex_};
  const auto found = holds_.find(std::this_thread::get_id());
  return found == holds_.end() ? 0 : found->second.count;
}

Lease ThreadHolds::lease() const {
  const std::lock_guard lock{mutex_};
  const auto found = holds_.find(std::this_thread::get_id());
  return found == holds_.end() ? Lease{} : found->second.lease.share();
}

}  // namespace custodian::recipes_detail
