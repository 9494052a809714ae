#include "local_line.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "acquisition.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// Arguments in a co_await expression below are named objects, or trivial: g++ 12 destroys some
// temporaries there twice.

namespace {

/// All lines of a client.
class LocalLines final : public Service {
 public:
  explicit LocalLines(const asio::any_io_executor&) {}

  LocalLinePtr line(const Queue& queue) {
    std::weak_ptr<LocalLine>& known = lines_[{queue.path, queue.rule.names.data()}];
    LocalLinePtr line = known.lock();
    if (line) return line;
    line = std::make_shared<LocalLine>();
    known = line;
    if (lines_.size() >= forget_at_) {
      std::erase_if(lines_, [](const auto& each) { return each.second.expired(); });
      forget_at_ = 2 * lines_.size() + 16;
    }
    return line;
  }

 private:
  std::map<std::pair<std::string, const LockName*>, std::weak_ptr<LocalLine>> lines_;
  std::size_t forget_at_ = 16;
};

LocalLine::Member& member_of(LinePlace& standing) {
  return static_cast<LocalLine::Member&>(standing);
}

void wake(const std::vector<LinePlace*>& members) {
  for (LinePlace* each : members) member_of(*each).woken.notify_all();
}

}  // namespace

LocalLinePtr LocalLine::of(const Queue& queue) {
  return Client{queue.client.share()}.use_service<LocalLines>().line(queue);
}

// -- Who comes ------------------------------------------------------------------------------------

LocalLine::MemberPtr LocalLine::add(OwnNode& node, const Acquire& acquire) {
  const Queue& queue = *acquire.queue;
  const auto member = std::make_shared<Member>(queue.kind);
  std::string name{node.name()};
  node.stand_in_line(
      [self = shared_from_this(), name](Leaving leaving) { return self->leave(name, leaving); });
  member->node = node.in_line();
  member->wants_position = acquire.options.on_position != nullptr;
  member->who = {.node = node.path(),
                 .identity = queue.identity,
                 .session = node.stat().ephemeral_owner,
                 .since = node.stat().created,
                 .token = {queue.client.fencing_epoch(), node.stat().czxid}};
  members_.emplace(std::move(name), member);
  return member;
}

LocalLine::MemberPtr LocalLine::enter(OwnNode& node, const Acquire& acquire) {
  MemberPtr member = add(node, acquire);
  // Two who meet now and then are served as well by a listing each.
  constexpr std::size_t crowd = 3;
  if (members_.size() >= crowd) guard_->begin(*acquire.queue);
  const ParsedName parsed = parse_name(node.name(), acquire.queue->rule);
  const auto* contender = std::get_if<Contender>(&parsed);
  if (contender != nullptr && state_of(contender->sequence) != SequenceState::exhausted) {
    place_by_number(*member, {contender->sequence, guard_->epoch(*acquire.queue)});
  }
  return member;
}

void LocalLine::place_by_number(Member& member, NumberTold told) {
  const Last before = std::exchange(last_, Last{told, &member});
  numbers_run_on_ = follows(told, before.told);
  if (!numbers_run_on_ || member.wants_position) return;
  if (before.member != nullptr) {
    wake(stand_behind(member, *before.member));
  } else {
    wake(recipes_detail::grant(member));
  }
}

void LocalLine::enter_beside(OwnNode& node, const Acquire& acquire, std::string_view writer) {
  const MemberPtr member = add(node, acquire);
  const auto found = members_.find(writer);
  join_beside(*member, found == members_.end() ? nullptr : found->second.get());
}

void LocalLine::place_behind(Member& member, std::string_view in_front) {
  const auto found = members_.find(in_front);
  if (found != members_.end()) {
    wake(stand_behind(member, *found->second));
  } else {
    stand_apart(member);
  }
}

void LocalLine::grant(Member& member) { wake(recipes_detail::grant(member)); }

void LocalLine::tell_missing(const Member& member, const Listing& listing) {
  std::vector<std::shared_ptr<detail::LineNode>> missing;
  for (const auto& [name, each] : members_) {
    const bool was_before = each->who.token < member.who.token;
    if (each->granted && was_before && !listing.index_of(name)) missing.push_back(each->node);
  }
  for (const auto& node : missing) detail::tell_missing(*node);
}

const Participant& LocalLine::in_front_of(const Member& member) {
  return member_of(*member.ahead).who;
}

// -- Who waits, and who goes ----------------------------------------------------------------------

asio::awaitable<void> LocalLine::wait(LocalLinePtr self, AcquirePtr acquire, MemberPtr member) {
  if (member->granted || member->ahead == nullptr) co_return;
  const asio::any_io_executor strand = acquire->client().get_executor();
  if (!self->minding_) {
    self->minding_ = std::make_shared<Cancellation>(acquire->client().core());
    asio::co_spawn(strand, mind_session(self, acquire->client().core(), self->minding_),
                   asio::detached);
    // That may have told of a session that is over.
    if (member->ahead == nullptr) co_return;
  }
  co_await member->woken.wait(strand, Deadline::never(), acquire->give_up);
}

std::shared_ptr<detail::LineNode> LocalLine::leave(const std::string& name, Leaving leaving) {
  const auto left = members_.extract(name);
  if (left.empty()) return nullptr;
  Member& member = *left.mapped();
  const bool in_order = leaving == Leaving::in_order;
  if (last_.member == &member) {
    // Nobody is between whoever is in front of it and the next number; nobody at all is in front of
    // whoever excludes everybody.
    const bool is_alone = member.granted && member.kind == ContenderKind::exclusive;
    const bool known = in_order && (member.ahead != nullptr || is_alone);
    last_ = known ? Last{last_.told, static_cast<Member*>(member.ahead)} : Last{};
  }
  const std::vector<LinePlace*> behind = member.behind;
  const Departure departure = recipes_detail::leave(member, in_order);
  wake(departure.granted);
  wake(departure.look_again);
  for (LinePlace* each : behind) {
    if (member_of(*each).wants_position) member_of(*each).woken.notify_all();
  }
  if (members_.empty() && minding_) std::exchange(minding_, nullptr)->request();
  return departure.heir == nullptr ? nullptr : member_of(*departure.heir).node;
}

asio::awaitable<void> LocalLine::mind_session(LocalLinePtr self,
                                              std::shared_ptr<detail::ClientCore> core,
                                              CancellationPtr over) {
  ConnectionState known = ConnectionState::connecting;
  while (!over->requested()) {
    const auto [error, now] =
        co_await await<&detail::start_wait_connection_state, ConnectionState>(core, over, known);
    if (over->requested()) co_return;
    // They look again, and see that they are lost with it.
    if (error || now == ConnectionState::lost || now == ConnectionState::closed) {
      self->look_again_all();
    }
    if (error) co_return;
    known = now;
  }
}

void LocalLine::look_again_all() {
  for (const auto& [name, member] : members_) {
    if (member->granted) continue;
    stand_apart(*member);
    member->woken.notify_all();
  }
}

}  // namespace custodian::recipes_detail
