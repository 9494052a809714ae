#include "custodian/recipes/leader_latch.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <mutex>
#include <utility>

#include "candidacy.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {

/// What the latch, its story on the strand, and those who wait for it share.
class Latch : public std::enable_shared_from_this<Latch> {
 public:
  explicit Latch(CandidacyPtr candidacy)
      : candidacy_{std::move(candidacy)},
        listeners_turn_{candidacy_->client().callback_executor()} {}

  // Any thread.
  [[nodiscard]] const CandidacyPtr& candidacy() const noexcept { return candidacy_; }
  void start();
  void close(LeaderLatch::CloseMode mode);
  [[nodiscard]] CandidateState state() const;
  [[nodiscard]] Lease leadership() const;
  [[nodiscard]] Subscription listen(LeadershipListener listener);

 private:
  using Listeners = std::vector<std::weak_ptr<LeadershipListener>>;

  [[nodiscard]] static asio::awaitable<void> run(LatchPtr self);
  /// Where mutexes may be locked for ever.
  [[nodiscard]] bool in_forked_child() const {
    return candidacy_->client().unusable() == Errc::forked;
  }
  void take_office(Lease leadership);
  void leave_office(Lease leadership);
  void tell(Leadership now);

  const CandidacyPtr candidacy_;
  /// Where listeners run: in order, on whatever executor.
  const asio::strand<asio::any_io_executor> listeners_turn_;
  /// Whether they were told of this term; where they run.
  std::shared_ptr<bool> told_;

  mutable std::mutex mutex_;  ///< guards what follows
  CandidateState state_ = CandidateState::latent;
  LeaderLatch::CloseMode close_mode_ = LeaderLatch::CloseMode::silent;
  Lease leadership_;
  Listeners listeners_;
};

void Latch::start() {
  const Queue& queue = *candidacy_->queue();
  if (in_forked_child()) throw Error{Errc::forked, "LeaderLatch::start", queue.path};
  {
    const std::lock_guard lock{mutex_};
    recipes_detail::start(state_, queue, "LeaderLatch");
  }
  detail::spawn_detached(
      queue.client.core(), run(shared_from_this()), "LeaderLatch",
      [self = shared_from_this()](error_code) { self->close(LeaderLatch::CloseMode::silent); });
}

asio::awaitable<void> Latch::run(LatchPtr self) {
  Candidacy& candidacy = *self->candidacy_;
  candidacy.attach();
  for (;;) {
    Lease leadership = co_await candidacy.stand();
    if (!leadership) break;
    self->take_office(leadership.share());
    co_await candidacy.until_over(leadership.share());
    self->leave_office(std::move(leadership));
  }
  // Of a client that was closed, too.
  self->close(LeaderLatch::CloseMode::silent);
}

void Latch::take_office(Lease leadership) {
  {
    const std::lock_guard lock{mutex_};
    if (state_ == CandidateState::closed) return;
    leadership_ = std::move(leadership);
  }
  told_ = std::make_shared<bool>(false);
  asio::post(listeners_turn_, [self = shared_from_this(), told = told_] {
    // It may be over by the time that they can be told.
    const Lease current = self->leadership();
    if (!current) return;
    *told = true;
    self->tell(Leadership::gained);
  });
  candidacy_->notify();
}

void Latch::leave_office(Lease leadership) {
  Lease published;
  bool silent = false;
  {
    const std::lock_guard lock{mutex_};
    published = std::move(leadership_);
    silent = state_ == CandidateState::closed && close_mode_ == LeaderLatch::CloseMode::silent;
  }
  // Closed before it was known to lead, it has nothing to tell.
  if (silent || !published) return;
  // Both are let go of when the listeners have returned.
  asio::post(listeners_turn_,
             [self = shared_from_this(), told = told_, leadership = std::move(leadership),
              published = std::move(published)] {
               if (*told) self->tell(Leadership::ended);
             });
}

void Latch::close(LeaderLatch::CloseMode mode) {
  if (in_forked_child()) return;
  {
    const std::lock_guard lock{mutex_};
    if (state_ == CandidateState::closed) return;
    state_ = CandidateState::closed;
    close_mode_ = mode;
  }
  candidacy_->end();
}

CandidateState Latch::state() const {
  if (in_forked_child()) return CandidateState::closed;
  const std::lock_guard lock{mutex_};
  return state_;
}

Lease Latch::leadership() const {
  if (in_forked_child()) return {};
  const std::lock_guard lock{mutex_};
  if (state_ != CandidateState::started) return {};
  return leadership_.state() == LeaseState::lost ? Lease{} : leadership_.share();
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

asio::awaitable<void> wait_for_leadership(LatchPtr latch, CancellationPtr cancellation,
                                          Deadline deadline,
                                          std::shared_ptr<Handler<Lease>> handler) {
  const CandidacyPtr candidacy = latch->candidacy();
  candidacy->attach();
  error_code error;
  Lease leadership = latch->leadership();
  while (!leadership) {
    if (candidacy->ended()) error = Errc::closed;
    if (!error && cancellation && cancellation->requested()) {
      error = asio::error::operation_aborted;
    }
    if (error || deadline.passed()) break;
    co_await candidacy->wait_for_change(deadline, cancellation);
    leadership = latch->leadership();
  }
  std::move (*handler)(error, std::move(leadership));
}

}  // namespace

void start_wait_leadership(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                           LatchPtr latch, Deadline deadline, Handler<Lease> handler) {
  const Client& client = latch->candidacy()->client();
  if (client.unusable() == Errc::forked) return std::move(handler)(Errc::forked, Lease{});
  const Deadline until = deadline.or_default(Deadline::never());
  const auto ending = std::make_shared<Handler<Lease>>(std::move(handler));
  detail::spawn_detached(client.core(),
                         wait_for_leadership(latch, std::move(cancellation), until, ending),
                         "LeaderLatch::wait", ending);
}

}  // namespace recipes_detail

LeaderLatch::LeaderLatch(const Client& client, std::string path, CandidateOptions options)
    : LeaderLatch{recipes_detail::make_candidacy(client, "LeaderLatch", recipes_detail::latch_rule,
                                                 std::move(path), std::move(options))} {}

LeaderLatch::LeaderLatch(recipes_detail::CandidacyPtr candidacy)
    : Candidate{candidacy->queue()},
      latch_{std::make_shared<recipes_detail::Latch>(std::move(candidacy))} {}

LeaderLatch::~LeaderLatch() { latch_->close(CloseMode::silent); }

void LeaderLatch::start() { latch_->start(); }
void LeaderLatch::close(CloseMode mode) { latch_->close(mode); }

LeaderLatch::State LeaderLatch::state() const { return latch_->state(); }

bool LeaderLatch::has_leadership() const {
  const Lease leadership = latch_->leadership();
  return static_cast<bool>(leadership);
}
Lease LeaderLatch::leadership() const { return latch_->leadership(); }

Subscription LeaderLatch::on_leadership(LeadershipListener listener) {
  return latch_->listen(std::move(listener));
}

Lease LeaderLatch::wait(std::stop_token stop) const {
  return wait_until(Deadline::never(), std::move(stop));
}

Lease LeaderLatch::wait_until(Deadline deadline, std::stop_token stop) const {
  auto [error, leadership] = block<&recipes_detail::start_wait_leadership, Lease>(
      core(), "LeaderLatch::wait", path(), std::move(stop), latch_, deadline);
  detail::throw_if(*core(), error, "LeaderLatch::wait", path());
  return std::move(leadership);
}

}  // namespace custodian
