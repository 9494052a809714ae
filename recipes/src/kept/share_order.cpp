#include "kept/share_order.hpp"

#include <utility>

namespace custodian::recipes_detail {

// -- Readers --------------------------------------------------------------------------------------

bool ShareOrder::join() {
  Place* const newest = newest_place();
  if (newest == nullptr || newest->phase != Phase::holds || !may_join()) return false;
  ++newest->served;
  ++newest->holders;
  return true;
}

ShareOrder::Entry ShareOrder::enter() {
  pending_.insert(++last_reader_);
  return {last_reader_, decide()};
}

ShareOrder::Exit ShareOrder::leave(Reader reader) {
  if (pending_.erase(reader) > 0) return {true, decide()};
  for (auto& [node, place] : nodes_) {
    if (place.waiting.erase(reader) == 0) continue;
    // The node stays in the queue while other readers wait for its grant.
    if (!place.waiting.empty()) return {true, {}};
    place.retired = true;
    Next next = decide();
    next.end.push_back(node);
    return {true, std::move(next)};
  }
  return {};
}

/// Gives readers without a node the newest node, or the next one.
void ShareOrder::let_in(Next& next) {
  if (pending_.empty()) return;
  Place* const newest = newest_place();
  const bool is_created = newest != nullptr && newest->phase == Phase::creating;
  if (is_created && !newest->retired) return;
  if (newest != nullptr && is_open(*newest) && (asked_ || !known_)) {
    // The readers wait for a listing, which may let them join.
    next.list = !std::exchange(asked_, true);
    return;
  }
  while (!pending_.empty() && may_join()) {
    const Reader reader = pending_.extract(pending_.begin()).value();
    ++newest->served;
    if (newest->phase == Phase::waits) {
      newest->waiting.insert(reader);
    } else {
      ++newest->holders;
      next.hold.push_back(reader);
      next.held = newest_;
    }
  }
  if (!pending_.empty()) create(next);
}

void ShareOrder::create(Next& next) {
  // Only the newest node may be idle.
  if (newest_ != 0 && is_idle(newest_)) {
    next.end.push_back(newest_);
    nodes_.erase(newest_);
  }
  newest_ = ++last_;
  Place& place = nodes_[newest_];
  place.served = 1;
  place.waiting.insert(pending_.extract(pending_.begin()).value());
  next.create = newest_;
}

// -- Nodes ----------------------------------------------------------------------------------------

void ShareOrder::on_sent(Node node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  found->second.phase = Phase::creating;
  found->second.number.reset();
}

ShareOrder::Next ShareOrder::on_queued(Node node, std::optional<Sequence> number) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  found->second.phase = Phase::waits;
  found->second.number = number;
  if (!number) found->second.retired = true;
  retire_in_front_of_writer();
  return decide();
}

ShareOrder::Next ShareOrder::on_granted(Node node, bool keeps) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  Place& place = found->second;
  if (place.waiting.empty()) {
    // All readers have given up: the caller deletes the node.
    nodes_.erase(found);
    if (node == newest_) newest_ = 0;
    return decide();
  }
  Next next;
  place.phase = Phase::holds;
  place.keeps = keeps;
  place.holders = place.waiting.size();
  next.held = node;
  next.hold.assign(place.waiting.begin(), place.waiting.end());
  place.waiting.clear();
  return next;
}

ShareOrder::Failure ShareOrder::on_ended(Node node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  Failure failure;
  failure.failed.assign(found->second.waiting.begin(), found->second.waiting.end());
  nodes_.erase(found);
  if (node == newest_) newest_ = 0;
  failure.next = decide();
  return failure;
}

ShareOrder::Next ShareOrder::on_released(Node node, bool sound) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  Place& place = found->second;
  --place.holders;
  if (!sound) place.retired = true;
  if (place.holders > 0) return {};
  if (node == newest_ && stays()) return {};
  Next next;
  next.end.push_back(node);
  nodes_.erase(found);
  if (node == newest_) newest_ = 0;
  return next;
}

ShareOrder::Next ShareOrder::retire(Node node) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  found->second.retired = true;
  return decide();
}

// -- The writers ----------------------------------------------------------------------------------

ShareOrder::Next ShareOrder::on_listed(std::optional<Sequence> last_writer) {
  asked_ = due_ = false;
  known_ = true;
  last_writer_ = last_writer;
  retire_in_front_of_writer();
  return decide();
}

ShareOrder::Next ShareOrder::on_not_listed() {
  asked_ = due_ = known_ = false;
  // A listing that was sent with the create may have come before the parents existed.
  Place* const newest = newest_place();
  if (newest != nullptr && newest->phase != Phase::creating) newest->retired = true;
  return decide();
}

void ShareOrder::on_changed() {
  known_ = false;
  due_ = listing_helps();
}

ShareOrder::Next ShareOrder::on_own_writer() {
  if (Place* const newest = newest_place()) newest->retired = true;
  Next next;
  drop_idle(next);
  return next;
}

bool ShareOrder::listing_helps() const {
  const Place* const newest = newest_place();
  return newest != nullptr && newest->phase == Phase::holds && !known_ && is_open(*newest);
}

void ShareOrder::retire_in_front_of_writer() {
  Place* const newest = newest_place();
  if (newest == nullptr || !newest->number || !known_ || !last_writer_) return;
  if (*last_writer_ > *newest->number) newest->retired = true;
}

bool ShareOrder::may_join() const {
  const Place* const newest = newest_place();
  // Not if a writer is behind the node: then the node is retired, and so not open.
  return newest != nullptr && is_open(*newest) && known_;
}

bool ShareOrder::is_retired(Node node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() || found->second.retired;
}

// -- Idle nodes -----------------------------------------------------------------------------------

bool ShareOrder::is_idle(Node node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.phase == Phase::holds && found->second.holders == 0;
}

/// Whether the newest node stays, if it is idle.
bool ShareOrder::stays() const {
  const Place& newest = *newest_place();
  if (!is_open(newest)) return false;
  // Readers wait for the listing: the node stays for them as if its last reader released later.
  if (asked_ && !pending_.empty()) return true;
  // Without a listing, no watch would show that a writer comes.
  return newest.keeps && (known_ || asked_ || due_);
}

void ShareOrder::drop_idle(Next& next) {
  if (newest_ == 0 || !is_idle(newest_) || stays()) return;
  next.end.push_back(newest_);
  nodes_.erase(newest_);
  newest_ = 0;
}

ShareOrder::Next ShareOrder::decide() {
  Next next;
  let_in(next);
  drop_idle(next);
  return next;
}

ShareOrder::Place* ShareOrder::newest_place() {
  const auto found = nodes_.find(newest_);
  return found == nodes_.end() ? nullptr : &found->second;
}

const ShareOrder::Place* ShareOrder::newest_place() const {
  const auto found = nodes_.find(newest_);
  return found == nodes_.end() ? nullptr : &found->second;
}

}  // namespace custodian::recipes_detail
