#include "kept/turn_order.hpp"

#include <utility>

namespace custodian::recipes_detail {

CohortOrder::Entry CohortOrder::enter() {
  waiting_.insert(++last_);
  return {last_, set_line()};
}

CohortOrder::Exit CohortOrder::leave(Id id) {
  if (waiting_.erase(id) == 0) return {};
  return {true, waiting_.empty() ? Line::leave : Line::as_it_is};
}

CohortOrder::Next CohortOrder::on_first() {
  --in_line_;
  // No waiter is left: the caller releases the lock.
  if (waiting_.empty()) return {};
  ++tenure_;
  held_ = true;
  passes_left_ = max_local_handoffs_;
  const Id holder = take_first();
  return {holder, set_line()};
}

CohortOrder::Next CohortOrder::on_done(Tenure tenure, bool sound) {
  // The lease of this holder was lost, and a newer tenure has begun.
  if (tenure != tenure_) return {};
  if (sound && passes_left_ > 0 && !waiting_.empty()) {
    --passes_left_;
    return {take_first(), Line::as_it_is};
  }
  held_ = false;
  return {std::nullopt, set_line()};
}

CohortOrder::Failure CohortOrder::on_ending(Ending ending) {
  --in_line_;
  Failure failure;
  if (ending == Ending::failed_for_all) {
    failure.failed.assign(waiting_.begin(), waiting_.end());
    waiting_.clear();
    if (in_line_ > 0) failure.line = Line::leave;
    return failure;
  }
  if (ending == Ending::failed_for_one && std::cmp_less(in_line_, waiting_.size())) {
    failure.failed.push_back(take_first());
  }
  failure.line = set_line();
  return failure;
}

CohortOrder::Line CohortOrder::set_line() {
  if (waiting_.empty()) {
    // While the lock is held, stand-ins stay for new waiters: a thread that held the lock often
    // acquires it again.
    return in_line_ > 0 && !held_ ? Line::leave : Line::as_it_is;
  }
  // One more suffices: no event leaves more than one too few.
  if (in_line_ == most_in_line || std::cmp_greater_equal(in_line_, waiting_.size())) {
    return Line::as_it_is;
  }
  ++in_line_;
  return Line::stand;
}

CohortOrder::Id CohortOrder::take_first() { return waiting_.extract(waiting_.begin()).value(); }

}  // namespace custodian::recipes_detail
