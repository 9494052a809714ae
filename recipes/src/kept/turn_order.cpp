#include "kept/turn_order.hpp"

#include <algorithm>
#include <utility>

namespace custodian::recipes_detail {

TurnOrder::Entry TurnOrder::enter() {
  waiting_.insert(++last_);
  return {last_, set_line()};
}

TurnOrder::Exit TurnOrder::leave(Id id) {
  if (waiting_.erase(id) == 0) return {};
  return {true, Line{.stand = 0, .leave = waiting_.empty() && in_line_ > 0}};
}

TurnOrder::Next TurnOrder::on_first(bool lists) {
  --in_line_;
  // No waiter is left: the caller releases the lock.
  if (waiting_.empty()) return {};
  ++tenure_;
  held_ = true;
  company_ = lists ? Company::asked : Company::unknown;
  passes_left_ = rules_.max_local_handoffs;
  const Id holder = take_first();
  return {Fate::pass, holder, set_line()};
}

TurnOrder::Next TurnOrder::on_done(Tenure tenure, bool sound) {
  // The lease of this holder was lost, and a newer tenure has begun.
  if (tenure != tenure_) return {};
  if (!sound) return release();
  if (waiting_.empty()) {
    if (!is_alone()) return release();
    return {Fate::idle, std::nullopt, {}};
  }
  if (is_alone()) return pass();
  if (passes_left_ > 0) {
    --passes_left_;
    return pass();
  }
  if (is_asking()) return {Fate::wait, std::nullopt, {}};
  return release();
}

TurnOrder::Failure TurnOrder::on_ending(Ending ending) {
  --in_line_;
  Failure failure;
  if (ending == Ending::failed_for_all) {
    failure.failed.assign(waiting_.begin(), waiting_.end());
    waiting_.clear();
    failure.line.leave = in_line_ > 0;
    return failure;
  }
  if (ending == Ending::failed_for_one && in_line_ < waiting_.size()) {
    failure.failed.push_back(take_first());
  }
  failure.line = set_line();
  return failure;
}

TurnOrder::Next TurnOrder::on_listed(bool alone, bool released, bool sound) {
  if (!is_asking()) return {};
  company_ = alone ? Company::none : Company::unknown;
  if (released) return on_done(tenure_, sound);
  return {Fate::release, std::nullopt, set_line()};
}

TurnOrder::Line TurnOrder::on_company() {
  company_ = Company::unknown;
  return set_line();
}

TurnOrder::Line TurnOrder::on_idle_gone() { return release().line; }

TurnOrder::Next TurnOrder::release() {
  held_ = false;
  company_ = Company::unknown;
  return {Fate::release, std::nullopt, set_line()};
}

TurnOrder::Line TurnOrder::set_line() {
  // While the lock is held, stand-ins stay for new waiters: a thread that has held the lock often
  // acquires it again.
  if (waiting_.empty()) return {.stand = 0, .leave = in_line_ > 0 && !held_};
  if (company_ != Company::unknown) return {};
  const std::size_t wanted = std::min(waiting_.size(), rules_.most_in_line);
  if (in_line_ >= wanted) return {};
  const std::size_t more = wanted - in_line_;
  in_line_ = wanted;
  return {.stand = more, .leave = false};
}

TurnOrder::Id TurnOrder::take_first() { return waiting_.extract(waiting_.begin()).value(); }

}  // namespace custodian::recipes_detail
