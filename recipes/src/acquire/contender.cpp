#include "acquire/contender.hpp"

#include <utility>

#include "acquire/newcomers.hpp"
#include "acquire/queue_warnings.hpp"
#include "acquire/watching.hpp"
#include "async/started_operation.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "local_handover/local_queue.hpp"

// How a lock is acquired (Apache Curator's protocol, which is ZooKeeper's recipe for locks):
//
// 1. Create an ephemeral sequential node below the lock's path, and list the lock's children. The
//    list travels behind the create, so both cost one round trip.
// 2. Judge the list (ordering/contender_order.hpp, pure): the lowest number has the lock; every
//    other contender waits for its predecessor.
// 3. Watch the predecessor's node, and the contender's own. The contender has the lock when its
//    predecessor's node is deleted, no other node in front excludes it, and the event comes on the
//    connection that showed the list. In all other cases it lists again, and goes on with step 2.
// 4. Make a lease of the node, as soon as the lease clock says that the session is certainly alive.
//
// The acquire begins in acquire_lock(), at the end of this file. If the acquire ends early, `node_`
// is destroyed with the contender, and its destructor deletes the node.
//
// Two shortcuts need no answer from the servers (local_handover/): contenders of one client wait
// for each other in a LocalQueue; and a contender whose number directly follows that of another one
// of this client needs no list, for no contender is between the two. The LocalQueue, or the reply
// to a list, calls on_woken().
// Thousands of contenders may wait like this, so a waiting contender has no coroutine: the
// coroutines here end where such a wait begins.

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// What a listing has shown of the contenders in front.
struct Ahead {
  std::string nearest;           ///< the path of the nearest contender that excludes this one
  std::size_t count = 0;         ///< how many contenders exclude this one
  bool is_last = false;          ///< see Wait::is_last
  std::uint64_t connection = 0;  ///< the connection that showed the listing
};

/// One contender on its way to the front. The object that will call the contender next owns it: the
/// reply to its create, the listing or the local contender that it waits for, or the coroutine that
/// watches another client's node.
class Contender final : public ResumeTarget, public std::enable_shared_from_this<Contender> {
 public:
  Contender(AcquirePtr acquire, Handler<OwnedNode> in_front)
      : acquire_{std::move(acquire)},
        line_{LocalQueue::of(*acquire_->spec)},
        in_front_{std::move(in_front)} {}

  void begin();
  void on_woken() override;

 private:
  void on_created(error_code error, Created created);
  void go_on();
  void look();
  [[nodiscard]] ListingInterest ask_for_listing() const;
  void on_listed();
  static asio::awaitable<void> wait_for_others(std::shared_ptr<Contender> self, Ahead ahead);
  void wait_in_line();
  void finish(error_code error);

  const AcquirePtr acquire_;
  const LocalQueuePtr line_;
  Handler<OwnedNode> in_front_;
  OwnedNode node_;
  LocalQueue::MemberPtr member_;
  ListingInterest interest_;        ///< keeps the listing request alive
  bool listed_before_ = false;      ///< whether that request was sent before the node was known
  std::size_t ahead_ = 0;           ///< how many contenders in front exclude it, as last seen
  LocalQueue::MemberPtr behind_{};  ///< the predecessor, if it is this client's
};

// -- 1. Create and list ---------------------------------------------------------------------------

void Contender::begin() {
  const LockSpec& spec = *acquire_->spec;
  Newcomers::tell(spec, acquire_->for_others);
  CreateOptions options{.mode = CreateMode::ephemeral_sequential,
                        .protection = Protection::by_unique_name,
                        .parents = Parents::created_as_containers,
                        .deadline = Deadline::never(),
                        .retry = acquire_->retry()};
  start_create(acquire_->client().core(), acquire_->give_up, join(spec.path, spec.lock_name),
               spec.identity, std::move(options),
               [self = shared_from_this()](error_code error, Created created) {
                 self->on_created(error, std::move(created));
               });
  // The list travels behind the create and so contains its node: one round trip for both. It is
  // omitted where the number will probably identify the predecessor.
  if (acquire_->watches_its_queue() || !line_->expects_neighbour()) interest_ = ask_for_listing();
}

void Contender::on_created(error_code error, Created created) {
  if (error) return finish(error);
  node_ = OwnedNode{acquire_->client().core(), std::move(created)};
  member_ = line_->enter(node_, *acquire_->spec, positions_of(*acquire_));
  acquire_->has_queued = true;
  if (acquire_->on_queued) acquire_->on_queued(node_.name());
  // The number alone has shown the place, so the listing is not needed.
  const bool placed = member_->granted || (member_->ahead != nullptr && !member_->wants_position());
  if (placed) interest_ = ListingInterest{};
  go_on();
}

ListingInterest Contender::ask_for_listing() const {
  const bool watched = acquire_->watches_its_queue() && !acquire_->queue_watch;
  const Sharing others = acquire_->wait_limit.try_once ? Sharing::alone : Sharing::shared;
  const Sharing sharing = watched ? Sharing::alone_with_watch : others;
  return line_->listings().ask(acquire_->spec, acquire_->operation(), sharing);
}

void Contender::go_on() {
  if (member_->granted) return finish({});
  if (member_->ahead != nullptr && !member_->wants_position()) return wait_in_line();
  look();
}

/// Lists the queue, to find the predecessor.
void Contender::look() {
  if (!node_.alive()) return finish(Errc::session_lost);
  listed_before_ = static_cast<bool>(interest_);
  if (!listed_before_) interest_ = ask_for_listing();
  if (interest_.request()->reply || acquire_->give_up->requested()) return on_listed();
  acquire_->give_up->on_request(this, [this] {
    const auto self = shared_from_this();
    std::erase(interest_.request()->waiting, self);
    on_woken();
  });
  interest_.request()->waiting.push_back(shared_from_this());
}

// -- 2. Judge -------------------------------------------------------------------------------------

/// Judges the listing, and puts the member into its place. Returns the contenders ahead; nothing if
/// the lock is granted.
Result<std::optional<Ahead>> on_listing(const LockSpec& spec, const ListingReply& reply,
                                        std::string_view name, LocalQueue& line,
                                        LocalQueue::Member& member) {
  report_oddities(spec, reply.listing);
  const Judgement judgement = judge(reply.listing, name);
  if (std::holds_alternative<OwnNodeMissing>(judgement)) return Errc::node_deleted;
  if (std::holds_alternative<Exhausted>(judgement)) return Errc::sequence_exhausted;
  if (const auto* malformed = std::get_if<Malformed>(&judgement)) {
    return report_malformed(spec, malformed->name);
  }
  if (const auto* held = std::get_if<Held>(&judgement)) {
    line.place_behind(member, held->in_front);
    // Nodes of local holders that the listing lacks were deleted by hand: their owners are notified
    // before this grant.
    line.tell_missing(member, reply.listing);
    line.grant(member);
    return std::nullopt;
  }
  const Wait& wait = std::get<Wait>(judgement);
  line.place_behind(member, wait.in_front);
  return Ahead{join(spec.path, wait.nearest.name), wait.position, wait.is_last, reply.connection};
}

void Contender::on_listed() {
  const ListingReplyPtr reply = interest_.request()->reply;
  interest_ = ListingInterest{};
  if (member_->granted) return finish({});
  if (!reply) return finish(asio::error::operation_aborted);
  // A create that was repeated may have been applied after the listing: list again.
  const bool too_early = reply->error || !reply->listing.index_of(node_.name());
  if (listed_before_ && too_early) return go_on();
  if (reply->error && reply->error != ServerErrc::no_node) return finish(reply->error);
  if (!node_.alive()) return finish(Errc::session_lost);

  Result<std::optional<Ahead>> ahead =
      on_listing(*acquire_->spec, *reply, node_.name(), *line_, *member_);
  if (reply->watch && ahead) {
    acquire_->queue_watch = reply->watch;
    acquire_->was_alone = member_->granted && reply->listing.size() == 1;
    acquire_->listed_on = reply->connection;
  }
  if (!ahead || member_->granted) return finish(ahead.error());
  ahead_ = (*ahead)->count;
  acquire_->somebody_ahead = true;
  if (member_->ahead != nullptr) return wait_in_line();
  spawn(acquire_->client().core(), "waiting in line at " + acquire_->spec->path,
        wait_for_others(shared_from_this(), std::move(**ahead)),
        [self = shared_from_this()](error_code failure) {
          if (self->in_front_) self->finish(failure);
        });
}

// -- 3. Watch the one in front --------------------------------------------------------------------

std::uint64_t connection_of(const Acquire& acquire) {
  return detail::connection_number(*acquire.client().core());
}

enum class Change : std::uint8_t {
  unknown,          ///< the queue must be listed again
  nearest_is_gone,  ///< the predecessor has gone, and the contender's own node exists
};

/// Ends when the contender's own node or its predecessor's has changed or been deleted, or may have
/// been. The caller awaits this coroutine, so `own` outlives it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<Result<Change>> wait_for_change(AcquirePtr acquire, OwnedNode& own,
                                                std::string nearest, std::size_t ahead) {
  const auto core = acquire->client().core();
  // An operator may delete the contender's own node, which lets the contenders behind it in. So
  // that node is watched before the contender relies on its predecessor. Both requests travel
  // together.
  std::optional<StartedOperation<GetResult, Watch>> watching;
  if (!is_watched(own) && !acquire->wait_limit.try_once) {
    watching = StartedOperation<GetResult, Watch>::start<&start_get_and_watch>(
        acquire->client().get_executor(), core, acquire->give_up, own.path(), acquire->operation());
  }
  auto [error, result, watch] = co_await await<&start_get_and_watch, GetResult, Watch>(
      core, acquire->give_up, nearest, acquire->operation());
  if (watching) {
    auto [own_error, own_result, own_watch] = co_await watching->get();
    if (own_error == ServerErrc::no_node) co_return Change::unknown;
    if (own_error) co_return own_error;
    own.set_watch(std::move(own_watch));
    // Only a request to release writes to a contender's node, so a new version shows one.
    acquire->asked = own_result.stat.version != 0;
  }
  if (error && error != ServerErrc::no_node) co_return error;
  bool gone = error == ServerErrc::no_node;
  if (!gone) {
    acquire->nearest = std::make_unique<Participant>(
        participant_of(acquire->client(), std::move(nearest), std::move(result)));
    tell_position(*acquire, ahead);
    if (acquire->wait_limit.try_once) co_return decline(*acquire);
    if (acquire->on_waiting) acquire->on_waiting();
    std::vector watchers{own.watch().state(), watch.state()};
    const error_code ended = co_await wait_for_any(acquire, std::move(watchers));
    if (ended) co_return ended;
    gone = event_of(watch.state()) == WatchEventType::deleted;
  }
  // A watch that is still armed shows that the contender's own node exists.
  const bool known = gone && is_watched(own);
  co_return known ? Change::nearest_is_gone : Change::unknown;
}

/// Waits for another client's contender.
asio::awaitable<void> Contender::wait_for_others(std::shared_ptr<Contender> self, Ahead ahead) {
  const AcquirePtr acquire = self->acquire_;
  const Result<Change> change =
      co_await wait_for_change(acquire, self->node_, std::move(ahead.nearest), ahead.count);
  if (!change) co_return self->finish(change.error());
  // On one connection events arrive in the order of the changes. On a new connection the server may
  // lag behind the one that showed the listing: list again.
  const bool may_go_on = ahead.is_last && *change == Change::nearest_is_gone &&
                         ahead.connection == connection_of(*acquire);
  if (may_go_on) self->line_->grant(*self->member_);
  self->go_on();
}

/// Waits behind another contender of this client, until this one may go on or must list again.
void Contender::wait_in_line() {
  behind_ = line_->in_front_of(*member_);
  acquire_->somebody_ahead = true;
  if (acquire_->options.on_position || acquire_->wait_limit.try_once || acquire_->shows_nearest) {
    acquire_->nearest = std::make_unique<Participant>(line_->participant(*behind_));
  }
  tell_position(*acquire_, ahead_);
  if (acquire_->wait_limit.try_once) return finish(decline(*acquire_));
  if (acquire_->give_up->requested()) return finish(asio::error::operation_aborted);
  if (acquire_->on_waiting) acquire_->on_waiting();
  acquire_->give_up->on_request(this, [this] { line_->wake(*member_); });
  line_->wait(*member_, shared_from_this(), acquire_->client());
}

void Contender::on_woken() {
  acquire_->give_up->forget(this);
  if (interest_) return on_listed();
  const LocalQueue::MemberPtr behind = std::exchange(behind_, nullptr);
  if (member_->granted && !acquire_->give_up->requested()) return go_on();
  // The wait was given up, or ended without a grant: the caller learns which contender was ahead.
  acquire_->nearest = std::make_unique<Participant>(line_->participant(*behind));
  if (acquire_->give_up->requested()) return finish(asio::error::operation_aborted);
  go_on();
}

void Contender::finish(error_code error) {
  if (error) node_ = OwnedNode{};
  std::move(in_front_)(error, std::move(node_));
}

}  // namespace

void stand_in_line(const AcquirePtr& acquire, Handler<OwnedNode> in_front) {
  std::make_shared<Contender>(acquire, std::move(in_front))->begin();
}

// -- 4. The lease ---------------------------------------------------------------------------------

namespace {

/// The data of a contender's node.
detail::NodeData identity_of(const LockSpecPtr& spec) { return {spec, &spec->identity}; }

Result<Leases> leases_of(const error_code& error, Lease lease) {
  if (error) return error;
  Leases leases;
  leases.push_back(std::move(lease));
  return leases;
}

/// A request to release that came while the contender waited has replaced the identity in the node.
/// A lease that arms a watch of its own reads the node, finds the request, and writes the identity
/// back. So the old watch is dropped, and a new one is armed.
void forget_watch_if_asked(const Acquire& acquire, OwnedNode& node) {
  if (acquire.asked) node.set_watch(Watch{});
}
void watch_if_asked(const Acquire& acquire, const Lease& lease) {
  if (acquire.asked && lease) detail::watch_node(lease);
}

}  // namespace

asio::awaitable<Result<Leases>> take(AcquirePtr acquire, OwnedNode node) {
  const detail::NodeData data = identity_of(acquire->spec);
  forget_watch_if_asked(*acquire, node);
  auto [error, lease] = co_await await<&detail::start_lease, Lease>(
      acquire->client().core(), acquire->give_up, std::move(node), data, acquire->lease_options(),
      acquire->retry(), acquire->spec->observed);
  watch_if_asked(*acquire, lease);
  co_return leases_of(error, std::move(lease));
}

void acquire_lock(const AcquirePtr& acquire) {
  stand_in_line(acquire, [acquire](error_code error, OwnedNode node) {
    if (error) return end_attempt(acquire, error);
    forget_watch_if_asked(*acquire, node);
    detail::start_lease(acquire->client().core(), acquire->give_up, std::move(node),
                        identity_of(acquire->spec), acquire->lease_options(), acquire->retry(),
                        acquire->spec->observed, [acquire](error_code failure, Lease lease) {
                          watch_if_asked(*acquire, lease);
                          end_attempt(acquire, leases_of(failure, std::move(lease)));
                        });
  });
}

}  // namespace custodian::recipes_detail
