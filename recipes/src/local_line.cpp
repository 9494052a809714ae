#include "local_line.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

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

  LocalLinePtr line(const std::string& path, const Rule& rule) {
    std::weak_ptr<LocalLine>& known = lines_[{path, rule.names.data()}];
    LocalLinePtr line = known.lock();
    if (!line) {
      line = std::make_shared<LocalLine>(rule);
      known = line;
      std::erase_if(lines_, [](const auto& each) { return each.second.expired(); });
    }
    return line;
  }

 private:
  std::map<std::pair<std::string, const LockName*>, std::weak_ptr<LocalLine>> lines_;
};

}  // namespace

LocalLinePtr LocalLine::of(const Queue& queue) {
  return Client{queue.client.share()}.use_service<LocalLines>().line(queue.path, queue.rule);
}

LocalLine::LocalLine(Rule rule)
    : rule_{rule},
      passes_on_{std::ranges::find(rule.names, ContenderKind::shared, &LockName::kind) ==
                 rule.names.end()} {}

// -- Listings -------------------------------------------------------------------------------------

Looking LocalLine::look(const AcquirePtr& acquire) {
  if (acquire->patience.only_try) {
    Looking alone{std::make_shared<Look>()};
    start(acquire->queue, alone.look(), acquire->operation());
    return alone;
  }
  std::shared_ptr<Look>& joined = running_ ? next_ : running_;
  if (joined) return Looking{joined};
  joined = std::make_shared<Look>();
  Looking looking{joined};
  if (joined == running_) start(acquire->queue, running_, acquire->operation());
  return looking;
}

asio::awaitable<SightPtr> LocalLine::result_of(AcquirePtr acquire,
                                               std::shared_ptr<const Looking> looking) {
  const asio::any_io_executor strand = acquire->client().get_executor();
  const std::shared_ptr<Look> look = looking->look();
  while (!look->sight && !acquire->give_up->requested()) {
    co_await look->arrived.wait(strand, Deadline::never(), acquire->give_up);
  }
  if (look->sight) co_return look->sight;
  co_return std::make_shared<const Sight>(
      Sight{asio::error::operation_aborted, Listing{{}, acquire->queue->rule}, 0});
}

void LocalLine::start(const QueuePtr& queue, std::shared_ptr<Look> look, OperationOptions options) {
  look->give_up = std::make_shared<Cancellation>(queue->client.core());
  asio::co_spawn(queue->client.get_executor(),
                 run(shared_from_this(), queue, std::move(look), options), asio::detached);
}

asio::awaitable<void> LocalLine::run(LocalLinePtr self, QueuePtr queue, std::shared_ptr<Look> look,
                                     OperationOptions options) {
  auto [error, children] = co_await await<&detail::start_children, Children>(
      queue->client.core(), look->give_up, queue->path, options);
  std::erase_if(children.names, [&](const std::string& name) { return self->is_leaving(name); });
  look->sight = std::make_shared<const Sight>(Sight{
      error, Listing{std::move(children.names), self->rule_}, queue->client.session().connection});
  self->on_seen(queue, look);
  look->arrived.notify_all();
}

void LocalLine::on_seen(const QueuePtr& queue, const std::shared_ptr<Look>& look) {
  if (look != running_) return;
  running_ = std::exchange(next_, nullptr);
  if (running_ && running_->wanted == 0) running_.reset();
  if (running_)
    start(queue, running_, {Deadline::never(), queue->client.retry_policy().unlimited()});
}

bool LocalLine::is_leaving(const std::string& name) {
  const auto found = leaving_.find(name);
  if (found == leaving_.end()) return false;
  if (!found->second.expired()) return true;
  leaving_.erase(found);
  return false;
}

// -- Places ---------------------------------------------------------------------------------------

void LocalLine::enter(OwnNode& node, const Queue& queue) {
  if (!passes_on_) return;
  std::string name{node.name()};
  node.stand_in_line(
      [self = shared_from_this(), name](Leaving leaving) { return self->leave(name, leaving); });
  members_.emplace(std::move(name),
                   Member{.who = {.node = node.path(),
                                  .identity = queue.identity,
                                  .session = node.stat().ephemeral_owner,
                                  .since = node.stat().created,
                                  .token = {queue.client.fencing_epoch(), node.stat().czxid}},
                          .node = node.in_line()});
}

void LocalLine::set_first(std::string_view name) {
  const auto found = members_.find(name);
  if (found != members_.end()) found->second.is_first = true;
}

const Participant* LocalLine::find(std::string_view name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : &found->second.who;
}

void LocalLine::remember(const std::string& name, const std::shared_ptr<detail::LineNode>& node) {
  leaving_.insert_or_assign(name, node);
  if (leaving_.size() < forget_at_) return;
  std::erase_if(leaving_, [](const auto& each) { return each.second.expired(); });
  forget_at_ = 2 * leaving_.size() + 16;
}

std::shared_ptr<detail::LineNode> LocalLine::leave(const std::string& name, Leaving leaving) {
  const auto left = members_.extract(name);
  if (left.empty()) return nullptr;
  const Member& member = left.mapped();
  if (leaving == Leaving::in_order) remember(name, member.node);
  const bool passes_on = leaving == Leaving::in_order && member.is_first;
  // Nobody is between this one and the one before it, so that is the next one's neighbour now.
  const bool has_neighbour = !member.is_first && members_.contains(member.behind);
  std::shared_ptr<detail::LineNode> heir;
  while (auto waiting = followers_.extract(name)) {
    Follower& follower = waiting.mapped();
    const auto place = members_.find(follower.name);
    if (place == members_.end()) continue;
    if (has_neighbour && !follower.wants_position) {
      place->second.behind = member.behind;
      waiting.key() = member.behind;
      followers_.insert(std::move(waiting));
      continue;
    }
    follower.woken->notify_all();
    if (heir || !passes_on || place->second.who.session != member.who.session) continue;
    place->second.is_first = true;
    heir = place->second.node;
  }
  return heir;
}

asio::awaitable<bool> LocalLine::wait_behind(AcquirePtr acquire, std::string name,
                                             std::string nearest) {
  const auto self = shared_from_this();
  const asio::any_io_executor strand = acquire->client().get_executor();
  const auto woken = std::make_shared<Condition>();
  members_.at(name).behind = nearest;
  const bool wants_position = acquire->options.on_position != nullptr;
  followers_.emplace(nearest, Follower{name, woken, wants_position});
  if (!minding_) {
    minding_ = std::make_shared<Cancellation>(acquire->client().core());
    asio::co_spawn(strand, mind_session(self, acquire->client().core(), minding_), asio::detached);
  }
  co_await woken->wait(strand, Deadline::never(), acquire->give_up);
  const auto me = members_.find(name);
  const std::string& behind = me == members_.end() ? nearest : me->second.behind;
  const auto [first, last] = followers_.equal_range(behind);
  const auto still = std::find_if(
      first, last, [&](const auto& follower) { return follower.second.woken == woken; });
  if (still != last) followers_.erase(still);
  if (followers_.empty() && minding_) std::exchange(minding_, nullptr)->request();
  co_return me != members_.end() && me->second.is_first;
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
    if (error || now == ConnectionState::lost || now == ConnectionState::closed) self->wake_all();
    if (error) co_return;
    known = now;
  }
}

void LocalLine::wake_all() {
  for (const auto& [nearest, follower] : std::exchange(followers_, {}))
    follower.woken->notify_all();
}

}  // namespace custodian::recipes_detail
