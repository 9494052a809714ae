/// \file
/// A claim goes by the newest version of the map that its process knows.
///
/// 1. Release the locks that the path does not need any more, or that are in the wrong order.
/// 2. Take the lock at the next home: become a member of its ensemble, then enter the lock's queue.
/// 3. With the locks of all homes the acquire is granted. While the path moves, the acquire first
///    reads the new home's copy, with that home's lock held: if the copy is turned, the token
///    follows the new home.
/// 4. The hold goes on in the same way, until it is released, or has lost a home.

#include "ensembles/moving_claim.hpp"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <utility>

#include "acquire/not_acquired.hpp"
#include "acquire/pending_acquires.hpp"
#include "acquire/start_acquire.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/authoring/spawn.hpp"
#include "ensembles/moving_hold.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

LockSpecPtr MovingLock::at(const CopyPlace& place) const {
  const std::lock_guard lock{mutex};
  LockSpecPtr& spec = specs[place.name];
  if (!spec) {
    spec = make_lock_spec(place.client, observed_mutex, mutex_rule, ContenderKind::exclusive, path,
                          options);
  }
  return spec;
}

namespace {

/// How long a hold waits before it tries again to take a home that could not be taken.
constexpr std::chrono::milliseconds before_another_try{1000};

/// The error or result of an acquire that ends without a lease.
struct ClaimEnd {
  error_code error{};
  MovingAcquireResult result{};
};

/// Used on the home strand. Its coroutine owns it.
class MovingClaim final : public MapClaim, public std::enable_shared_from_this<MovingClaim> {
 public:
  MovingClaim(MovingLockPtr lock, CancellationPtr callers, const WaitLimit& limit,
              AcquireOptions options, Handler<MovingAcquireResult> handler)
      : lock_{std::move(lock)},
        callers_{std::move(callers)},
        limit_{limit.from_now()},
        deadline_{limit_.try_once ? home().deadline_or_default({}) : limit_.deadline},
        options_{std::move(options)},
        handler_{std::move(handler)} {}
  MovingClaim(const MovingClaim&) = delete;
  MovingClaim& operator=(const MovingClaim&) = delete;
  ~MovingClaim() override;

  static asio::awaitable<void> run(std::shared_ptr<MovingClaim> claim);
  /// Ends a claim whose coroutine has thrown.
  void fail(error_code error);

  [[nodiscard]] const std::string& path() const noexcept override { return lock_->path; }
  [[nodiscard]] ClaimState state() const override { return {phase_, hold_->held_at(), waits_at_}; }
  void on_map() override { wake(); }

 private:
  [[nodiscard]] MapFollower& follower() const { return *lock_->follower; }
  [[nodiscard]] const Client& home() const { return follower().home(); }
  [[nodiscard]] bool is_acquiring() const { return phase_ == ClaimPhase::acquiring; }
  [[nodiscard]] bool is_over() const { return end_ || hold_->is_over(); }

  void begin();
  std::optional<std::string> next_home();
  void take(const std::string& home_name);
  void queue_at(const CopyPlace& place);
  void on_queue_left(const std::string& home_name, error_code error, AcquireResult result);
  asio::awaitable<void> grant(MapViewPtr view);
  void leave_queue();
  void finish();

  void stop_listening();
  void lose();
  void end_with(error_code error);
  void decline(NotAcquired reason, std::optional<Participant> blocked_by = {});
  void on_error(error_code error);
  [[nodiscard]] bool may_go_on();
  void wake();
  asio::awaitable<void> next_change();

  const MovingLockPtr lock_;
  const CancellationPtr callers_;
  const WaitLimit limit_;
  const Deadline deadline_;
  const AcquireOptions options_;
  Handler<MovingAcquireResult> handler_;

  ClaimPhase phase_ = ClaimPhase::acquiring;
  std::shared_ptr<MovingHold> hold_;
  std::optional<std::string> waits_at_;  ///< the home in whose queue the claim waits
  CancellationPtr queue_;                ///< ends the wait in that queue
  std::optional<std::string> joins_;     ///< the ensemble where the claim waits for a join
  CancellationPtr reading_;              ///< ends the read of a copy
  CancellationPtr closing_;              ///< requested when the home client begins to close
  bool has_complained_ = false;          ///< a home that the hold could not take was logged
  bool has_requeued_ = false;            ///< the claim has lost a place in a queue, or a home
  Deadline not_before_;                  ///< a hold does not try to take a home before this
  std::optional<ClaimEnd> end_;          ///< set when the acquire ends without a lease
  bool has_changed_ = false;
  AsyncEvent changed_;
};

// -- The story ------------------------------------------------------------------------------------

asio::awaitable<void> MovingClaim::run(std::shared_ptr<MovingClaim> claim) {
  for (claim->begin(); claim->may_go_on();) {
    const MapViewPtr view = claim->follower().view();
    const std::optional<std::string> next = claim->next_home();
    if (claim->waits_at_ && claim->waits_at_ != next) {
      claim->leave_queue();
    } else if (next && !claim->waits_at_) {
      claim->take(*next);
    } else if (view && !next && claim->is_acquiring()) {
      co_await claim->grant(view);
      continue;
    }
    co_await claim->next_change();
  }
  // Before the handler is called, the last request that could still bring a lease must have ended.
  for (claim->leave_queue(); claim->is_acquiring() && claim->waits_at_;) {
    co_await claim->next_change();
  }
  claim->finish();
}

void MovingClaim::begin() {
  auto on_change = [weak = weak_from_this(), strand = home().get_executor()] {
    if (weak.expired()) return;
    asio::post(strand, [weak] {
      if (const auto alive = weak.lock()) alive->wake();
    });
  };
  hold_ = std::make_shared<MovingHold>(home().share(), std::move(on_change));
  reading_ = std::make_shared<Cancellation>(home().core());
  follower().add(*this);
  // `hold_at_most` is not supported: the leases at two homes begin at different times.
  if (options_.lease.hold_at_most) end_with(Errc::invalid_argument);
  closing_ = std::make_shared<Cancellation>(home().core());
  closing_->on_request(this, [weak = weak_from_this()] {
    const auto alive = weak.lock();
    if (alive && alive->is_acquiring()) alive->end_with(Errc::closed);
  });
  auto& pending = home().share().use_service<PendingAcquires>();
  pending.enter(closing_);
  if (pending.closing()) end_with(Errc::closed);
  if (!callers_) return;
  callers_->on_request(this, [weak = weak_from_this()] {
    const auto alive = weak.lock();
    if (alive && alive->is_acquiring()) alive->end_with(asio::error::operation_aborted);
  });
  if (callers_->requested()) end_with(asio::error::operation_aborted);
}

/// Releases the locks that the newest version of the map does not need. Returns the home to take
/// next.
std::optional<std::string> MovingClaim::next_home() {
  if (is_acquiring() && hold_->drop_lost()) has_requeued_ = true;
  const MapViewPtr view = follower().view();
  if (!view) return std::nullopt;
  const ClaimState now = state();
  const ClaimStep step = next_step(view->homes_of(path()), now);
  // All locks of the hold are at former homes: its member's node was deleted, so that a move has
  // ended without it.
  if (!is_acquiring() && !now.locks.empty() && step.drop.size() == now.locks.size()) {
    lose();
    return std::nullopt;
  }
  for (const std::string& each : step.drop) hold_->drop(each);
  return step.take;
}

/// Starts to become a member of the ensemble; a member enters the queue there.
void MovingClaim::take(const std::string& home_name) {
  if (!is_acquiring() && !not_before_.is_default() && !not_before_.passed()) return;
  const CopyPlacePtr place = follower().place_of(home_name);
  if (!place) return on_error(Errc::invalid_argument);
  if (const error_code unusable = place->client.unusable()) return on_error(unusable);
  if (limit_.try_once && is_acquiring() && !is_connected(place->client.connection_state())) {
    return decline(NotAcquired::no_connection);
  }
  if (follower().is_member(home_name)) {
    joins_.reset();
    return queue_at(*place);
  }
  const bool has_tried = joins_ == home_name;
  if (const error_code error = follower().joining_failed(home_name); has_tried && error) {
    joins_.reset();
    return on_error(error);
  }
  joins_ = home_name;
  follower().start_joining(home_name);
}

void MovingClaim::queue_at(const CopyPlace& place) {
  AcquireOptions options;
  options.lease = options_.lease;
  if (is_acquiring()) options = options_;
  // The claim itself decides which home is taken next, and in which session.
  options.requeue = RequeuePolicy::fail;
  if (std::exchange(has_requeued_, false) && is_acquiring()) {
    if (options_.requeue == RequeuePolicy::fail) return end_with(Errc::session_lost);
    if (options_.on_requeued) asio::post(home().callback_executor(), options_.on_requeued);
  }
  waits_at_ = place.name;
  queue_ = std::make_shared<Cancellation>(place.client.core());
  start_acquire_within(lock_->at(place), queue_, is_acquiring() ? limit_ : WaitLimit{},
                       std::move(options), {},
                       [claim = shared_from_this(), name = place.name](
                           error_code error, AcquireResult result) mutable {
                         const asio::any_io_executor strand = claim->home().get_executor();
                         asio::dispatch(strand, [claim = std::move(claim), name = std::move(name),
                                                 error, result = std::move(result)]() mutable {
                           claim->on_queue_left(name, error, std::move(result));
                         });
                       });
}

void MovingClaim::on_queue_left(const std::string& home_name, error_code error,
                                AcquireResult result) {
  waits_at_.reset();
  wake();
  if (is_over()) return;
  const bool is_lost =
      error == Errc::session_lost || (!error && result && result.lease.state() == LeaseState::lost);
  if (is_lost) {
    has_requeued_ = true;
  } else if (error) {
    if (error != asio::error::operation_aborted) on_error(error);
  } else if (!result) {
    decline(result.reason, std::move(result.blocked_by));
  } else if (follower().is_member(home_name)) {
    // If a later session has got the lock, and has not joined, the lease is dropped.
    hold_->add(home_name, std::move(result.lease));
  }
}

asio::awaitable<void> MovingClaim::grant(MapViewPtr view) {
  const std::vector<std::string> homes = view->homes_of(path());
  std::int64_t generation = view->generation();
  if (homes.size() > 1) {
    const std::string& added = homes.back();
    const OperationOptions limits{.deadline = deadline_};
    const auto version = co_await follower().read_version(added, reading_, limits);
    if (!version && !is_passing(version.error())) on_error(version.error());
    // If the map has changed meanwhile, or the acquire has ended, the caller decides again.
    if (!version || is_over() || follower().view() != view) co_return;
    const std::int64_t moving = view->version() - static_cast<int>(view->phase()) + 1;
    if (*version > moving) ++generation;
  }
  const std::string& token_home = view->home_of(path(), generation);
  const FencingToken of_lease = hold_->token_at(token_home);
  const FencingToken token = moved_token(of_lease, view->epoch_of(path(), generation));
  if (!hold_->grant(token)) co_return;
  phase_ = ClaimPhase::holding;
  stop_listening();
  std::move(handler_)(error_code{}, MovingAcquireResult{.lease = MovingLease{hold_}});
}

void MovingClaim::leave_queue() {
  if (waits_at_) queue_->request();
}

void MovingClaim::finish() {
  follower().remove(*this);
  if (!is_acquiring()) return;
  stop_listening();
  hold_->release();
  std::move(handler_)(end_->error, std::move(end_->result));
}

// -- Its end --------------------------------------------------------------------------------------

/// The coroutine owns the claim, at the latest until the home client's context is destroyed. After
/// that nothing follows the path for a hold that is left, so the hold is lost.
MovingClaim::~MovingClaim() {
  if (!hold_) return;
  follower().remove(*this);
  if (hold_->note_lost()) hold_->notify_lost();
}

/// Only an acquire ends by the caller's cancellation, or when the client begins to close.
void MovingClaim::stop_listening() {
  if (callers_) callers_->forget(this);
  closing_->forget(this);
  home().share().use_service<PendingAcquires>().leave(closing_);
}

/// Ends the hold as lost, though it may still have leases.
void MovingClaim::lose() {
  if (!hold_->note_lost()) return;
  asio::post(home().callback_executor(), [hold = hold_] { hold->notify_lost(); });
}

void MovingClaim::end_with(error_code error) {
  if (!end_) end_ = ClaimEnd{.error = error};
  reading_->request();
  wake();
}

void MovingClaim::decline(NotAcquired reason, std::optional<Participant> blocked_by) {
  if (!end_) {
    end_ = ClaimEnd{.result = {.blocked_by = std::move(blocked_by), .reason = reason}};
  }
  reading_->request();
  wake();
}

/// Ends an acquire with the error. A hold keeps the locks that it has, and tries again later.
void MovingClaim::on_error(error_code error) {
  if (is_acquiring()) return end_with(error);
  not_before_ = Deadline{before_another_try};
  if (std::exchange(has_complained_, true)) return;
  home().log(LogLevel::warning,
             path() + " is held, and its new home could not be taken: " + error.message());
}

/// Whether there is something left to do. While an acquire waits in a queue, its limits apply
/// there.
bool MovingClaim::may_go_on() {
  if (is_over()) return false;
  if (!is_acquiring() || waits_at_) return true;
  if (const error_code closed = home().unusable()) {
    end_with(closed);
    return false;
  }
  if (!deadline_.passed()) return true;
  const bool is_cut_off =
      std::ranges::any_of(follower().places(), [this](const CopyPlacePtr& each) {
        return (!joins_ || each->name == *joins_) && !is_connected(each->client.connection_state());
      });
  decline(is_cut_off ? NotAcquired::no_connection : NotAcquired::no_answer);
  return false;
}

void MovingClaim::wake() {
  has_changed_ = true;
  changed_.notify_all();
}

asio::awaitable<void> MovingClaim::next_change() {
  const asio::any_io_executor strand = home().get_executor();
  const CancellationPtr none;
  Deadline until = Deadline::never();
  if (is_acquiring() && !waits_at_) until = deadline_;
  if (!is_acquiring() && !not_before_.is_default() && !not_before_.passed()) until = not_before_;
  if (!has_changed_) co_await changed_.wait(strand, until, none);
  has_changed_ = false;
}

void MovingClaim::fail(error_code error) {
  leave_queue();
  // The claim cannot follow the path any more. A hold must end as lost before any version is
  // announced without it.
  if (hold_ && !is_acquiring()) lose();
  if (hold_) follower().remove(*this);
  if (!is_acquiring()) return;
  if (closing_) stop_listening();
  if (hold_) hold_->release();
  if (handler_) std::move(handler_)(error, MovingAcquireResult{});
}

}  // namespace

void start_moving_claim(const MovingLockPtr& lock, CancellationPtr cancellation,
                        const WaitLimit& limit, AcquireOptions options,
                        Handler<MovingAcquireResult> handler) {
  const Client& home = lock->follower->home();
  if (const error_code unusable = home.unusable()) {
    return std::move(handler)(unusable, MovingAcquireResult{});
  }
  const auto claim = std::make_shared<MovingClaim>(lock, std::move(cancellation), limit,
                                                   std::move(options), std::move(handler));
  spawn(home.core(), "an acquire of " + lock->path, MovingClaim::run(claim),
        [claim](error_code failure) { claim->fail(failure); });
}

}  // namespace custodian::recipes_detail
