#include "custodian/leader/leader_latch.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <mutex>
#include <utility>

#include "async/end_of_wait.hpp"
#include "custodian/authoring/spawn.hpp"
#include "leader/candidacy.hpp"

namespace custodian {

namespace asio = boost::asio;

// A latch is a loop on the strand: stand in the queue; take office, which publishes the leadership
// and notifies the listeners; wait until the leadership is over; leave office, which notifies the
// listeners and then releases; stand again. close() ends the loop from any thread. A start() after
// that adds a candidature, which the same loop serves next if it still runs.

namespace recipes_detail {

/// One run of the latch, from a start() to its close. Each run has a node of its own, so a later
/// run begins at the end of the queue.
struct Candidature {
  explicit Candidature(CandidacyPtr with) : candidacy{std::move(with)} {}

  const CandidacyPtr candidacy;
  // Guarded by the latch's mutex.
  LeaderLatch::CloseMode close_mode = LeaderLatch::CloseMode::silent;
  bool closed = false;
  Lease leadership;
  /// Whether the listeners were notified that this term began. The pointer is used on the strand
  /// only, the flag in the listeners' turn only.
  std::shared_ptr<bool> told;
};
using CandidaturePtr = std::shared_ptr<Candidature>;

/// The state that the latch, its coroutine on the strand, and its waiters share.
class Latch : public std::enable_shared_from_this<Latch> {
 public:
  explicit Latch(const CandidacyPtr& candidacy)
      : spec_{candidacy->spec()},
        listeners_turn_{spec_->client.callback_executor()},
        now_{std::make_shared<Candidature>(candidacy)} {}

  // Called from any thread.
  [[nodiscard]] const Client& client() const noexcept { return spec_->client; }
  void start();
  void close(LeaderLatch::CloseMode mode);
  [[nodiscard]] CandidateState state() const;
  /// The present candidature.
  [[nodiscard]] CandidaturePtr now() const;
  [[nodiscard]] Lease leadership_of(const Candidature& candidature) const;
  [[nodiscard]] Lease leadership() const;
  [[nodiscard]] Subscription listen(LeadershipListener listener);

 private:
  using Listeners = std::vector<std::weak_ptr<LeadershipListener>>;

  [[nodiscard]] static asio::awaitable<void> run(LatchPtr self);
  [[nodiscard]] static asio::awaitable<void> stand(LatchPtr self, CandidaturePtr candidature);
  /// Whether this is the child of a fork, where mutexes may be locked for ever.
  [[nodiscard]] bool in_forked_child() const { return client().unusable() == Errc::forked; }
  /// The next candidature for run(), after `standing_` has ended; null if that was the newest.
  [[nodiscard]] CandidaturePtr next();
  void take_office(const CandidaturePtr& candidature, Lease leadership);
  void leave_office(const CandidaturePtr& candidature, Lease leadership);
  void end(const CandidaturePtr& candidature, LeaderLatch::CloseMode mode);
  [[nodiscard]] CandidaturePtr standing() const;
  void on_failure();
  void tell(Leadership now);

  const LockSpecPtr spec_;
  /// Runs the listeners one after the other, even if several threads run the callback executor.
  const asio::strand<asio::any_io_executor> listeners_turn_;

  mutable std::mutex mutex_;  ///< guards what follows
  CandidateState state_ = CandidateState::latent;
  CandidaturePtr now_;
  /// The candidature that run() serves; null while run() is not under way. The next candidature
  /// stands when this one has left office.
  CandidaturePtr standing_;
  Listeners listeners_;
};

void Latch::start() {
  if (in_forked_child()) throw Error{Errc::forked, "LeaderLatch::start", spec_->path};
  {
    const std::lock_guard lock{mutex_};
    const bool again = state_ == CandidateState::closed;
    recipes_detail::start(state_, *spec_, "LeaderLatch");
    if (again) now_ = std::make_shared<Candidature>(now_->candidacy->anew());
    if (standing_) return;
    standing_ = now_;
  }
  spawn(client().core(), "LeaderLatch", run(shared_from_this()),
        [self = shared_from_this()](error_code) { self->on_failure(); });
}

asio::awaitable<void> Latch::run(LatchPtr self) {
  CandidaturePtr candidature = self->standing();
  while (candidature) {
    co_await stand(self, candidature);
    candidature = self->next();
  }
}

asio::awaitable<void> Latch::stand(LatchPtr self, CandidaturePtr candidature) {
  Candidacy& candidacy = *candidature->candidacy;
  candidacy.attach();
  for (;;) {
    Lease leadership = co_await candidacy.stand();
    if (!leadership) break;
    self->take_office(candidature, leadership.share());
    co_await candidacy.until_over(leadership.share());
    self->leave_office(candidature, std::move(leadership));
  }
  // The candidacy may also have ended with the client. Then the latch counts as closed.
  self->end(candidature, LeaderLatch::CloseMode::silent);
}

CandidaturePtr Latch::standing() const {
  const std::lock_guard lock{mutex_};
  return standing_;
}

CandidaturePtr Latch::next() {
  const std::lock_guard lock{mutex_};
  // Candidatures between `standing_` and `now_` were closed before they could stand.
  standing_ = standing_ == now_ ? nullptr : now_;
  return standing_;
}

// Called when run() has ended by an exception. `left` releases the leadership after the mutex is
// unlocked.
void Latch::on_failure() {
  close(LeaderLatch::CloseMode::silent);
  Lease left;
  const std::lock_guard lock{mutex_};
  left = std::move(standing_->leadership);
  standing_.reset();
}

void Latch::take_office(const CandidaturePtr& candidature, Lease leadership) {
  {
    const std::lock_guard lock{mutex_};
    if (candidature->closed) return;
    candidature->leadership = std::move(leadership);
  }
  candidature->told = std::make_shared<bool>(false);
  asio::post(listeners_turn_, [self = shared_from_this(), candidature, told = candidature->told] {
    // The term may be over by the time the listeners run.
    const Lease current = self->leadership_of(*candidature);
    if (!current) return;
    *told = true;
    self->tell(Leadership::gained);
  });
  candidature->candidacy->notify();
}

void Latch::leave_office(const CandidaturePtr& candidature, Lease leadership) {
  Lease published;
  bool silent = false;
  {
    const std::lock_guard lock{mutex_};
    published = std::move(candidature->leadership);
    silent = candidature->closed && candidature->close_mode == LeaderLatch::CloseMode::silent;
  }
  // A silent close reports nothing. Nor does a latch that was closed before the leadership was
  // published.
  if (silent || !published) return;
  // Both leases are released after the listeners have returned.
  asio::post(listeners_turn_,
             [self = shared_from_this(), told = candidature->told,
              leadership = std::move(leadership), published = std::move(published)] {
               if (*told) self->tell(Leadership::ended);
             });
}

void Latch::close(LeaderLatch::CloseMode mode) {
  if (in_forked_child()) return;
  end(now(), mode);
}

void Latch::end(const CandidaturePtr& candidature, LeaderLatch::CloseMode mode) {
  {
    const std::lock_guard lock{mutex_};
    // If the latch was started again, the late end of an earlier candidature does not close it.
    if (candidature == now_) state_ = CandidateState::closed;
    if (std::exchange(candidature->closed, true)) return;
    candidature->close_mode = mode;
  }
  candidature->candidacy->end();
}

CandidateState Latch::state() const {
  if (in_forked_child()) return CandidateState::closed;
  const std::lock_guard lock{mutex_};
  return state_;
}

CandidaturePtr Latch::now() const {
  const std::lock_guard lock{mutex_};
  return now_;
}

Lease Latch::leadership_of(const Candidature& candidature) const {
  const std::lock_guard lock{mutex_};
  if (candidature.closed) return {};
  const Lease& leadership = candidature.leadership;
  return leadership.state() == LeaseState::lost ? Lease{} : leadership.share();
}

Lease Latch::leadership() const {
  if (in_forked_child()) return {};
  return leadership_of(*now());
}

Subscription Latch::listen(LeadershipListener listener) {
  if (in_forked_child()) return {};
  auto registration = std::make_shared<LeadershipListener>(std::move(listener));
  const std::lock_guard lock{mutex_};
  std::erase_if(listeners_, [](const auto& each) { return each.expired(); });
  listeners_.push_back(registration);
  return Subscription{std::move(registration)};
}

void Latch::tell(Leadership now) {
  Listeners listeners;
  {
    const std::lock_guard lock{mutex_};
    listeners = listeners_;
  }
  for (const auto& weak : listeners) {
    if (const auto listener = weak.lock()) (*listener)(now);
  }
}

namespace {

asio::awaitable<Result<Lease>> wait_for_leadership(LatchPtr latch, CancellationPtr cancellation,
                                                   CandidaturePtr candidature, Deadline deadline) {
  const CandidacyPtr candidacy = candidature->candidacy;
  candidacy->attach();
  Lease leadership = latch->leadership_of(*candidature);
  while (!leadership) {
    if (candidacy->ended()) co_return Errc::closed;
    if (cancellation && cancellation->requested()) {
      co_return make_error_code(asio::error::operation_aborted);
    }
    if (deadline.passed()) break;
    co_await candidacy->wait_for_change(deadline, cancellation);
    leadership = latch->leadership_of(*candidature);
  }
  co_return std::move(leadership);
}

}  // namespace

void start_wait_leadership(CorePtr, CancellationPtr cancellation, LatchPtr latch, Deadline deadline,
                           Handler<Lease> handler) {
  // In the child of a fork the latch's mutex may be locked for ever.
  if (latch->client().unusable() == Errc::forked) {
    return std::move(handler)(Errc::forked, Lease{});
  }
  const CorePtr& core = latch->client().core();
  // Waits for the present candidature: a close ends the wait, even if the latch is started again at
  // once.
  CandidaturePtr now = latch->now();
  const Deadline until = deadline.or_default(Deadline::never());
  spawn(core, "LeaderLatch::wait",
        wait_for_leadership(latch, std::move(cancellation), std::move(now), until),
        std::move(handler));
}

}  // namespace recipes_detail

LeaderLatch::LeaderLatch(const Client& client, std::string path, CandidateOptions options)
    : LeaderLatch{recipes_detail::make_candidacy(client, "LeaderLatch", recipes_detail::latch_rule,
                                                 std::move(path), std::move(options))} {}

LeaderLatch::LeaderLatch(recipes_detail::CandidacyPtr candidacy)
    : Candidate{candidacy->spec()}, latch_{std::make_shared<recipes_detail::Latch>(candidacy)} {}

LeaderLatch::~LeaderLatch() { latch_->close(CloseMode::silent); }

void LeaderLatch::start() { latch_->start(); }
void LeaderLatch::close(CloseMode mode) { latch_->close(mode); }

LeaderLatch::State LeaderLatch::state() const { return latch_->state(); }

bool LeaderLatch::has_leadership() const {
  const Lease current = leadership();
  return static_cast<bool>(current);
}
Lease LeaderLatch::leadership() const { return latch_->leadership(); }

Subscription LeaderLatch::on_leadership(LeadershipListener listener) {
  return latch_->listen(std::move(listener));
}

Lease LeaderLatch::wait(std::stop_token stop) const {
  return wait_until(Deadline::never(), std::move(stop));
}

Lease LeaderLatch::wait_until(Deadline deadline, std::stop_token stop) const {
  auto ended = block_until<&recipes_detail::start_wait_leadership, Lease>(
      core(), "LeaderLatch::wait", path(), std::move(stop),
      recipes_detail::end_of_wait(client(), deadline), latch_, deadline);
  if (!ended) return {};
  throw_if(*core(), std::get<error_code>(*ended), "LeaderLatch::wait", path());
  return std::get<Lease>(std::move(*ended));
}

}  // namespace custodian
