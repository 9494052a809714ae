#include "contender_queue.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "acquisition.hpp"
#include "eager.hpp"
#include "local_line.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// Arguments in a co_await expression below are named objects, or trivial: g++ 12 destroys some
// temporaries there twice.

namespace {

std::uint64_t connection_of(const Acquire& acquire) {
  return detail::connection_number(*acquire.client().core());
}

bool is_watched(const OwnNode& own) { return own.watch() && !detail::is_over(own.watch().state()); }

}  // namespace

void report_oddities(const Queue& queue, const Listing& listing) {
  if (!listing.foreign().empty() && !queue.foreign_reported.exchange(true)) {
    queue.client.log(LogLevel::warning, queue.path + " has a child that is no contender, " +
                                            std::string{listing.foreign().front()} +
                                            "; it is ignored");
  }
  if (!listing.contenders().empty() &&
      state_of(listing.contenders().back().sequence) == SequenceState::near_end &&
      !queue.end_reported.exchange(true)) {
    queue.client.log(LogLevel::warning,
                     queue.path + " comes near the end of its sequence numbers: use another path");
  }
  if (queue.profile == Profile::curator || queue.mixture_reported) return;
  const auto others =
      std::ranges::find(listing.contenders(), Profile::curator, &Contender::profile);
  if (others == listing.contenders().end() || queue.mixture_reported.exchange(true)) return;
  queue.client.log(LogLevel::error,
                   queue.path + " is used by Apache Curator, too: " + std::string{others->name} +
                       ". It does not see the nodes of kazoo's profile, and will take the lock "
                       "when it should wait. Give the locks paths of their own");
}

error_code report_malformed(const Queue& queue, std::string_view name) {
  queue.client.log(LogLevel::error, child(queue.path, name) +
                                        " bears no sequence number: nobody can tell who is "
                                        "first. Remove it");
  return Errc::malformed_contender;
}

void tell_position(const Acquire& acquire, std::size_t ahead) {
  if (!acquire.options.on_position) return;
  asio::post(acquire.client().callback_executor(),
             [callback = acquire.options.on_position, ahead,
              nearest = acquire.nearest.value_or(Participant{})] { callback(ahead, nearest); });
}

asio::awaitable<error_code> wait_for_any(
    AcquirePtr acquire, std::vector<std::shared_ptr<detail::ClientWatcher>> watchers) {
  const auto [failure] = co_await await<&detail::start_wait_any>(
      acquire->client().core(), acquire->give_up, std::move(watchers));
  co_return failure == Errc::session_lost ? error_code{} : failure;
}

// The caller awaits it, and its node outlives that.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<error_code> watch_own(AcquirePtr acquire, OwnNode& own) {
  if (is_watched(own)) co_return error_code{};
  auto [error, result, watch] = co_await await<&detail::start_get_and_watch, GetResult, Watch>(
      acquire->client().core(), acquire->give_up, own.path(), acquire->operation());
  if (!error) own.set_watch(std::move(watch));
  co_return error;
}

namespace {

enum class Change : std::uint8_t {
  unknown,          ///< list again
  nearest_is_gone,  ///< and the own node is not
};

/// Ends when the own node or the nearest one ahead has changed or gone, or may have. The caller
/// awaits it, and its node outlives that.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<std::tuple<error_code, Change>> wait_for_change(AcquirePtr acquire, OwnNode& own,
                                                                std::string nearest,
                                                                std::size_t ahead) {
  const auto core = acquire->client().core();
  // Somebody else may delete the own node, and then let the others in. Watched before the other is
  // relied on; both travel together.
  std::optional<Eager<GetResult, Watch>> watching;
  if (!is_watched(own) && !acquire->patience.only_try) {
    watching = Eager<GetResult, Watch>::start<&detail::start_get_and_watch>(
        acquire->client().get_executor(), core, acquire->give_up, own.path(), acquire->operation());
  }
  auto [error, result, watch] = co_await await<&detail::start_get_and_watch, GetResult, Watch>(
      core, acquire->give_up, nearest, acquire->operation());
  if (watching) {
    auto [own_error, own_result, own_watch] = co_await watching->get();
    if (own_error == ServerErrc::no_node) co_return std::tuple{error_code{}, Change::unknown};
    if (own_error) co_return std::tuple{own_error, Change::unknown};
    own.set_watch(std::move(own_watch));
  }
  if (error && error != ServerErrc::no_node) co_return std::tuple{error, Change::unknown};
  bool gone = error == ServerErrc::no_node;
  if (!gone) {
    acquire->nearest = participant_of(acquire->client(), std::move(nearest), std::move(result));
    tell_position(*acquire, ahead);
    if (acquire->patience.only_try) {
      acquire->declined = true;
      error = asio::error::operation_aborted;
      co_return std::tuple{error, Change::unknown};
    }
    if (acquire->on_waiting) acquire->on_waiting();
    std::vector watchers{own.watch().state(), watch.state()};
    error = co_await wait_for_any(acquire, std::move(watchers));
    gone = detail::event_of(watch.state()) == WatchEventType::deleted;
  }
  if (error == ServerErrc::no_node) error.clear();
  const bool known = !error && gone && is_watched(own);
  co_return std::tuple{error, known ? Change::nearest_is_gone : Change::unknown};
}

}  // namespace

asio::awaitable<Turn> take(AcquirePtr acquire, OwnNode node) {
  auto [error, lease] = co_await await<&detail::start_lease, Lease>(
      acquire->client().core(), acquire->give_up, std::move(node), acquire->lease_options(),
      acquire->retry());
  Turn turn{error, {}};
  if (!error) turn.leases.push_back(std::move(lease));
  co_return turn;
}

namespace {

/// Begins to create the node.
Eager<Created> create_node(const AcquirePtr& acquire) {
  const Queue& queue = *acquire->queue;
  CreateOptions options{.mode = CreateMode::ephemeral_sequential,
                        .protection = Protection::by_unique_name,
                        .parents = Parents::created_as_containers,
                        .deadline = Deadline::never(),
                        .retry = acquire->retry()};
  return Eager<Created>::start<&detail::start_create>(
      acquire->client().get_executor(), acquire->client().core(), acquire->give_up,
      child(queue.path, queue.lock_name), queue.identity, std::move(options));
}

/// What a listing has shown of those in front.
struct Ahead {
  std::string nearest;  ///< its path
  std::size_t count = 0;
  bool is_last = false;
  std::uint64_t connection = 0;  ///< that has shown it
};

/// Looks whose turn it is, and puts the member where it stands.
error_code on_listing(const Queue& queue, const ListingReply& reply, std::string_view name,
                      LocalLine& line, LocalLine::Member& member, Ahead& ahead) {
  report_oddities(queue, reply.listing);
  const Judgement judgement = judge(reply.listing, name);
  if (std::holds_alternative<OwnNodeMissing>(judgement)) return Errc::node_deleted;
  if (std::holds_alternative<Exhausted>(judgement)) return Errc::sequence_exhausted;
  if (const auto* malformed = std::get_if<Malformed>(&judgement)) {
    return report_malformed(queue, malformed->name);
  }
  if (const auto* held = std::get_if<Held>(&judgement)) {
    line.place_behind(member, held->in_front);
    line.tell_missing(member, reply.listing);
    LocalLine::grant(member);
    return {};
  }
  const Wait& wait = std::get<Wait>(judgement);
  line.place_behind(member, wait.in_front);
  ahead = {child(queue.path, wait.nearest.name), wait.position, wait.is_last, reply.connection};
  return {};
}

/// Waits behind another of this client's, until it may go on or must look again.
asio::awaitable<error_code> wait_in_line(AcquirePtr acquire, LocalLinePtr line,
                                         LocalLine::MemberPtr member, std::size_t ahead) {
  acquire->nearest = LocalLine::in_front_of(*member);
  tell_position(*acquire, ahead);
  if (acquire->patience.only_try) {
    acquire->declined = true;
    co_return asio::error::operation_aborted;
  }
  if (acquire->on_waiting) acquire->on_waiting();
  co_await LocalLine::wait(line, acquire, member);
  error_code error;
  if (acquire->give_up->requested()) error = asio::error::operation_aborted;
  co_return error;
}

/// Waits for somebody else's; true if it may go on then, without another look.
/// The caller awaits it, and its node outlives that.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
asio::awaitable<std::tuple<error_code, bool>> wait_for_others(AcquirePtr acquire, OwnNode& node,
                                                              Ahead ahead) {
  const auto [error, change] =
      co_await wait_for_change(acquire, node, std::move(ahead.nearest), ahead.count);
  // On one connection events come in the order of the changes. On another one the event may be
  // that of a server which knows less than the listing did: then the listing must come anew.
  const bool may_go_on = !error && ahead.is_last && change == Change::nearest_is_gone &&
                         ahead.connection == connection_of(*acquire);
  co_return std::tuple{error, may_go_on};
}

}  // namespace

asio::awaitable<Place> stand_in_line(AcquirePtr acquire) {
  const LocalLinePtr line = LocalLine::of(*acquire->queue);
  auto creation = create_node(acquire);
  // The list travels behind the create and so contains its node: one round trip for both. The
  // number will probably do without.
  ListingTicket ticket;
  if (!line->expects_neighbour()) ticket = line->listings().ask(acquire);
  auto [create_error, created] = co_await creation.get();
  if (create_error) co_return Place{create_error, {}};

  OwnNode node{acquire->client().core(), std::move(created)};
  const LocalLine::MemberPtr member = line->enter(node, *acquire);
  acquire->has_queued = true;
  const bool placed = member->granted || (member->ahead != nullptr && !member->wants_position);
  if (placed) ticket = ListingTicket{};
  Ahead ahead;
  while (!member->granted) {
    if (member->ahead == nullptr || member->wants_position) {
      if (!node.alive()) co_return Place{Errc::session_lost, {}};
      const bool listed_before = static_cast<bool>(ticket);
      if (!listed_before) ticket = line->listings().ask(acquire);
      const std::shared_ptr<ListingRequest> request = ticket.request();
      const ListingReplyPtr reply = co_await SharedListings::result_of(acquire, request);
      ticket = ListingTicket{};
      if (member->granted) break;
      // A create that was tried again may have come after the list.
      const bool too_early = reply->error || !reply->listing.index_of(node.name());
      if (listed_before && too_early) continue;
      if (reply->error && reply->error != ServerErrc::no_node) co_return Place{reply->error, {}};
      if (!node.alive()) co_return Place{Errc::session_lost, {}};
      const error_code error =
          on_listing(*acquire->queue, *reply, node.name(), *line, *member, ahead);
      if (error) co_return Place{error, {}};
      if (member->granted) break;
    }
    if (member->ahead != nullptr) {
      const error_code error = co_await wait_in_line(acquire, line, member, ahead.count);
      if (error) co_return Place{error, {}};
    } else {
      const auto [error, may_go_on] = co_await wait_for_others(acquire, node, ahead);
      if (error) co_return Place{error, {}};
      if (may_go_on) LocalLine::grant(*member);
    }
  }
  co_return Place{{}, std::move(node)};
}

asio::awaitable<Turn> acquire_lock(AcquirePtr acquire) {
  Place place = co_await stand_in_line(acquire);
  if (place.error) co_return Turn{place.error, {}};
  co_return co_await take(acquire, std::move(place.node));
}

namespace {

/// What the caller is told of an acquire that did not come to a lease.
error_code verdict(const Acquire& acquire, const WaitingAcquires& service, error_code error) {
  if (error != asio::error::operation_aborted) return error;
  if (service.closing()) return Errc::closed;
  if (acquire.out_of_reach) return Errc::not_connected;
  if (acquire.declined || (acquire.late && acquire.has_queued)) return {};
  return acquire.late ? make_error_code(Errc::deadline_exceeded) : error;
}

asio::awaitable<void> run(AcquirePtr acquire, CancellationPtr callers,
                          std::shared_ptr<Handler<Outcome>> handler) {
  auto& service = Client{acquire->client().share()}.use_service<WaitingAcquires>();
  Turn turn{Errc::closed, {}};
  if (!service.closing()) {
    service.enter(acquire->give_up);
    if (callers) {
      callers->on_request(acquire.get(), [give_up = acquire->give_up] { give_up->request(); });
      if (callers->requested()) acquire->give_up->request();
    }
    asio::steady_timer timer{acquire->client().get_executor(),
                             acquire->patience.deadline.time_point()};
    timer.async_wait([acquire](error_code cancelled) {
      if (cancelled) return;
      acquire->late = true;
      acquire->give_up->request();
    });

    CancellationPtr over;
    if (acquire->patience.reach_within) {
      over = std::make_shared<Cancellation>(acquire->client().core());
      asio::co_spawn(acquire->client().get_executor(), mind_reach(acquire, over), asio::detached);
    }

    for (;;) {
      turn = co_await acquire->attempt(acquire);
      const bool again = turn.error == Errc::session_lost &&
                         acquire->options.requeue == RequeuePolicy::queue_again &&
                         !acquire->patience.only_try;
      if (!again) break;
      acquire->nearest.reset();
      if (acquire->options.on_requeued) {
        asio::post(acquire->client().callback_executor(), acquire->options.on_requeued);
      }
    }

    acquire->held.release();
    if (over) over->request();
    if (callers) callers->forget(acquire.get());
    service.leave(acquire->give_up);
    turn.error = verdict(*acquire, service, turn.error);
  }
  Outcome outcome{std::move(turn.leases), {}};
  if (outcome.leases.empty()) outcome.blocked_by = std::move(acquire->nearest);
  std::move (*handler)(turn.error, std::move(outcome));
}

}  // namespace

void WaitingAcquires::begin_shutdown() {
  closing_ = true;
  for (const CancellationPtr& acquire : std::exchange(acquires_, {})) acquire->request();
}

void start(AcquirePtr what, CancellationPtr cancellation, Handler<Outcome> handler) {
  const Client& client = what->client();
  error_code error = client.unusable();
  if (!error && !is_valid(what->options.lease)) error = Errc::invalid_argument;
  if (error) return std::move(handler)(error, Outcome{});
  what->give_up = std::make_shared<Cancellation>(client.core());
  const asio::any_io_executor strand = client.get_executor();
  asio::co_spawn(strand,
                 run(std::move(what), std::move(cancellation),
                     std::make_shared<Handler<Outcome>>(std::move(handler))),
                 asio::detached);
}

Handler<Outcome> as_one_lease(Handler<AcquireResult> handler) {
  return [handler = std::move(handler)](error_code error, Outcome outcome) mutable {
    AcquireResult result{{}, std::move(outcome.blocked_by)};
    if (!outcome.leases.empty()) result.lease = std::move(outcome.leases.front());
    std::move(handler)(error, std::move(result));
  };
}

void start_acquire_within(const QueuePtr& queue, CancellationPtr cancellation, Patience patience,
                          AcquireOptions options, Lease held, Handler<AcquireResult> handler) {
  error_code error = held ? objection_to(*queue, held) : error_code{};
  if (!error && held && is_of_same_kind(*queue, held)) {
    return std::move(handler)(error, AcquireResult{.lease = std::move(held)});
  }
  if (error) return std::move(handler)(error, AcquireResult{});
  const Attempt attempt = held ? stand_beside : acquire_lock;
  start(std::make_shared<Acquire>(Acquire{.queue = queue,
                                          .patience = patience,
                                          .options = std::move(options),
                                          .attempt = attempt,
                                          .held = std::move(held)}),
        std::move(cancellation), as_one_lease(std::move(handler)));
}

}  // namespace custodian::recipes_detail
