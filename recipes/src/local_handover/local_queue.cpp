#include "local_handover/local_queue.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "async/shared_by_key.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// All lines of a client.
class LocalQueues final : public Service {
 public:
  explicit LocalQueues(const asio::any_io_executor&) {}

  LocalQueuePtr line(const LockSpec& spec) {
    return lines_.find_or_make({spec.path, spec.rule.names.data()},
                               [&] { return std::make_shared<LocalQueue>(spec); });
  }

 private:
  SharedByKey<std::pair<std::string, const LockName*>, LocalQueue> lines_;
};

LocalQueue::Member& member_of(LocalEntry& standing) {
  return static_cast<LocalQueue::Member&>(standing);
}

}  // namespace

LocalQueue::LocalQueue(const LockSpec& spec)
    : strand_{spec.client.get_executor()}, fencing_epoch_{spec.client.fencing_epoch()} {}

LocalQueuePtr LocalQueue::of(const LockSpec& spec) {
  return Client{spec.client.share()}.use_service<LocalQueues>().line(spec);
}

// -- Entering the line ----------------------------------------------------------------------------

LocalQueue::MemberPtr LocalQueue::add(OwnedNode& node, const LockSpec& spec, Positions positions) {
  const auto member = std::make_shared<Member>(spec.kind);
  node.stand_in_line([self = shared_from_this(), member](LeaveReason leaving) {
    return self->leave(*member, leaving);
  });
  member->created = node.created();
  member->node = node.in_line();
  member->identity = spec.identity;
  member->positions = positions;
  members_.emplace(name_of(member->created->path), member);
  return member;
}

LocalQueue::MemberPtr LocalQueue::enter(OwnedNode& node, const LockSpec& spec,
                                        Positions positions) {
  MemberPtr member = add(node, spec, positions);
  // Two contenders that meet now and then list instead: one listing each costs no more than the
  // watch that the numbers need.
  constexpr std::size_t crowd = 3;
  if (members_.size() >= crowd) guard_->begin(spec);
  const ParsedName parsed = parse_name(node.name(), spec.rule);
  const auto* contender = std::get_if<ContenderName>(&parsed);
  if (contender != nullptr && state_of(contender->sequence) != SequenceState::exhausted) {
    place_by_number(*member, {contender->sequence, guard_->era(spec)});
  }
  return member;
}

void LocalQueue::place_by_number(Member& member, NumberTold told) {
  const Last before = std::exchange(last_, Last{told, &member});
  numbers_run_on_ = follows(told, before.told);
  // A member that wants its position must list: only a listing shows the number of contenders
  // ahead.
  if (!numbers_run_on_ || member.wants_position()) return;
  if (before.member != nullptr) {
    wake(stand_behind(member, *before.member));
  } else {
    wake(recipes_detail::grant(member));
  }
}

void LocalQueue::enter_beside(OwnedNode& node, const LockSpec& spec, Positions positions,
                              std::string_view writer) {
  const MemberPtr member = add(node, spec, positions);
  const auto found = members_.find(writer);
  join_beside(*member, found == members_.end() ? nullptr : found->second.get());
}

void LocalQueue::enter_apart(OwnedNode& node, const LockSpec& spec) {
  static_cast<void>(add(node, spec, Positions::none));
}

void LocalQueue::place_behind(Member& member, std::string_view in_front) {
  const auto found = members_.find(in_front);
  if (found != members_.end()) {
    wake(stand_behind(member, *found->second));
  } else {
    stand_apart(member);
  }
}

void LocalQueue::grant(Member& member) { wake(recipes_detail::grant(member)); }

void LocalQueue::tell_missing(const Member& member, const Listing& listing) {
  // An owner that is notified may leave the line, so the nodes are collected before the loop.
  std::vector<std::shared_ptr<detail::QueuedNode>> missing;
  for (const auto& [name, each] : members_) {
    const bool was_before = each->created->stat.czxid < member.created->stat.czxid;
    if (each->granted && was_before && !listing.index_of(name)) missing.push_back(each->node);
  }
  for (const auto& node : missing) detail::tell_missing(*node);
}

LocalQueue::MemberPtr LocalQueue::in_front_of(const Member& member) const {
  return members_.at(name_of(member_of(*member.ahead).created->path));
}

Participant LocalQueue::participant(const Member& member) const {
  const Stat& stat = member.created->stat;
  return {.node = member.created->path,
          .identity = member.identity,
          .session = stat.ephemeral_owner,
          .since = stat.created,
          .token = {fencing_epoch_, stat.czxid},
          .own = true};
}

std::optional<Participant> LocalQueue::participant(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) return std::nullopt;
  return participant(*found->second);
}

// -- Waiting and leaving --------------------------------------------------------------------------

void LocalQueue::wait(Member& member, std::shared_ptr<ResumeTarget> waiter, const Client& client) {
  member.waiter = std::move(waiter);
  if (!minding_) mind(client);
}

void LocalQueue::wake(Member& member) {
  if (!member.waiter) return;
  asio::post(strand_, [waiter = std::exchange(member.waiter, nullptr)] { waiter->on_woken(); });
}

void LocalQueue::wake(const std::vector<LocalEntry*>& members) {
  for (LocalEntry* each : members) wake(member_of(*each));
}

std::shared_ptr<detail::QueuedNode> LocalQueue::leave(Member& member, LeaveReason leaving) {
  if (members_.erase(name_of(member.created->path)) == 0) return nullptr;
  const bool in_order = leaving == LeaveReason::in_order;
  if (last_.member == &member) {
    // No contender is between this member's predecessor and the next number. A granted exclusive
    // member has no predecessor at all.
    const bool is_alone = member.granted && member.kind == ContenderKind::exclusive;
    const bool known = in_order && (member.ahead != nullptr || is_alone);
    last_ = known ? Last{last_.told, static_cast<Member*>(member.ahead)} : Last{};
  }
  const std::vector<LocalEntry*> behind = member.behind;
  const Departure departure = recipes_detail::leave(member, in_order);
  wake(departure.granted);
  wake(departure.look_again);
  for (LocalEntry* each : behind) {
    // The number of contenders ahead has changed, so the waiter lists again.
    if (member_of(*each).wants_position()) wake(member_of(*each));
  }
  if (members_.empty() && minding_) std::exchange(minding_, nullptr)->request();
  return departure.successor == nullptr ? nullptr : member_of(*departure.successor).node;
}

void LocalQueue::mind(const Client& client) {
  const auto& core = client.core();
  minding_ = std::make_shared<Cancellation>(core);
  // If the watch over the session fails, the waiters list again: otherwise they might wait for
  // ever.
  spawn(core, "watching over a line of waiters", mind_session(shared_from_this(), core, minding_),
        [self = shared_from_this()](error_code) { self->look_again_all(); });
  spawn(core, "watching over the holder of a line",
        mind_holder(shared_from_this(), std::make_shared<const Client>(client.share()), minding_));
}

asio::awaitable<void> LocalQueue::mind_session(LocalQueuePtr self, CorePtr core,
                                               CancellationPtr over) {
  ConnectionState known = ConnectionState::connecting;
  while (!over->requested()) {
    const auto [error, now] =
        co_await await<&start_wait_connection_state, ConnectionState>(core, over, known);
    if (over->requested()) co_return;
    // The waiters list again, and find that their nodes are lost with the session.
    if (error || now == ConnectionState::lost || now == ConnectionState::closed) {
      self->look_again_all();
    }
    if (error) {
      over->request();
      co_return;
    }
    known = now;
  }
}

const LocalQueue::Member* LocalQueue::holder() const {
  const Member* first = nullptr;
  for (const auto& [name, member] : members_) {
    const bool earlier =
        first == nullptr || member->created->stat.czxid < first->created->stat.czxid;
    if (member->granted && earlier) first = member.get();
  }
  return first;
}

asio::awaitable<void> LocalQueue::mind_holder(LocalQueuePtr self,
                                              std::shared_ptr<const Client> client,
                                              CancellationPtr over) {
  // The node of a holder that has died is gone within a session timeout, so a longer wait deserves
  // a warning.
  std::int64_t known = 0;
  bool reported = false;
  while (!over->requested()) {
    const auto pause = std::max<std::chrono::milliseconds>(client->session().timeout,
                                                           std::chrono::milliseconds{100});
    const auto timer = std::make_shared<asio::steady_timer>(self->strand_, pause);
    over->on_request(timer.get(), [timer] { timer->cancel(); });
    co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
    over->forget(timer.get());
    if (over->requested()) co_return;

    const Member* const holder = self->holder();
    const std::int64_t now = holder == nullptr ? 0 : holder->created->stat.czxid;
    if (now != known) reported = false;
    const bool waited_for = std::ranges::any_of(
        self->members_, [](const auto& each) { return each.second->waiter != nullptr; });
    if (now != 0 && now == known && waited_for && !reported) {
      client->log(LogLevel::warning,
                  "an acquire waits behind " + holder->created->path +
                      ", which this client has held for longer than its session timeout. If the "
                      "task that holds it is the one that waits, it waits for itself: let it use "
                      "acquire(lease), or release first");
      reported = true;
    }
    known = now;
  }
}

void LocalQueue::look_again_all() {
  for (const auto& [name, member] : members_) {
    if (member->granted) continue;
    stand_apart(*member);
    wake(*member);
  }
}

}  // namespace custodian::recipes_detail
