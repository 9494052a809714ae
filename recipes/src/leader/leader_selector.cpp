#include "custodian/leader/leader_selector.hpp"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "async/backoff.hpp"
#include "custodian/authoring/spawn.hpp"
#include "leader/candidacy.hpp"

namespace custodian {

namespace asio = boost::asio;

// A selector is a loop on the strand:
//
// 1. Wait until a turn is wanted: by start(), by requeue(), or always.
// 2. Stand in the queue until the candidate leads.
// 3. Hand the leadership to the user's function, on its executor. When the function has returned,
//    the leadership is released there, and the loop goes on with step 1.
//
// close() ends the loop from any thread, and asks a running function to stop.

namespace recipes_detail {

namespace {

std::string what_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

}  // namespace

/// The state that the selector, its coroutine on the strand, and the function's executor share.
class Selector : public std::enable_shared_from_this<Selector> {
 public:
  Selector(CandidacyPtr candidacy, LeaderFunction function, asio::any_io_executor executor,
           LeaderSelectorOptions options)
      : candidacy_{std::move(candidacy)},
        function_{std::move(function)},
        executor_{std::move(executor)},
        options_{std::move(options)} {}

  // Called from any thread.
  [[nodiscard]] const CandidacyPtr& candidacy() const noexcept { return candidacy_; }
  void start();
  bool requeue();
  bool interrupt();
  void close();
  [[nodiscard]] bool is_running() const;
  void wait_until_function_returned();
  /// After this returns, nothing more is posted to the executor.
  void hand_over_no_more();
  // Called on the function's executor.
  [[nodiscard]] bool begin(const LeaderTurn& turn);
  void on_ended(std::exception_ptr thrown);

  // Called on the strand only.
  [[nodiscard]] bool is_over() const noexcept { return candidacy_->ended() && !in_story_; }

 private:
  using State = CandidateState;

  [[nodiscard]] static asio::awaitable<void> run(SelectorPtr self);
  [[nodiscard]] static asio::awaitable<void> take_turn(SelectorPtr self, Lease leadership);
  void hand_over(std::shared_ptr<LeaderTurn> turn);
  void end_story();
  [[nodiscard]] bool wants_a_turn();
  /// Whether this is the child of a fork, where mutexes may be locked for ever.
  [[nodiscard]] bool in_forked_child() const {
    return candidacy_->client().unusable() == Errc::forked;
  }

  const CandidacyPtr candidacy_;
  LeaderFunction function_;
  const asio::any_io_executor executor_;
  const LeaderSelectorOptions options_;

  // These members are used on the strand only.
  bool in_story_ = false;
  bool in_turn_ = false;
  int refusals_ = 0;  ///< consecutive refusals of the executor to run the function

  std::mutex handing_over_;  ///< guards the executor, which may end with the selector
  bool hands_over_ = true;

  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable returned_;
  State state_ = State::latent;
  bool requested_ = false;
  bool had_no_turn_ = false;  ///< the leadership was lost before the function began
  bool running_ = false;
  Lease leadership_;
  std::stop_source stop_{std::nostopstate};
};

void Selector::start() {
  const LockSpec& spec = *candidacy_->spec();
  if (in_forked_child()) throw Error{Errc::forked, "LeaderSelector::start", spec.path};
  {
    const std::lock_guard lock{mutex_};
    if (state_ == State::closed) {
      throw Error{Errc::closed, "LeaderSelector::start", spec.path,
                  "a selector that was closed stays closed"};
    }
    recipes_detail::start(state_, spec, "LeaderSelector");
    requested_ = true;
  }
  spawn(spec.client.core(), "LeaderSelector", run(shared_from_this()),
        [self = shared_from_this()](error_code) { self->end_story(); });
}

asio::awaitable<void> Selector::run(SelectorPtr self) {
  Candidacy& candidacy = *self->candidacy_;
  self->in_story_ = true;
  candidacy.attach();
  while (!candidacy.ended()) {
    if (!self->wants_a_turn()) {
      co_await candidacy.wait_for_change(Deadline::never(), candidacy.over());
      continue;
    }
    Lease leadership = co_await candidacy.stand();
    if (!leadership) break;
    co_await take_turn(self, std::move(leadership));
  }
  self->end_story();
}

void Selector::end_story() {
  // The candidacy may also have ended with the client. Then the selector is closed.
  close();
  in_story_ = false;
  candidacy_->notify();
}

asio::awaitable<void> Selector::take_turn(SelectorPtr self, Lease leadership) {
  const CandidacyPtr candidacy = self->candidacy_;
  auto turn = std::make_shared<LeaderTurn>(self, std::move(leadership));
  self->in_turn_ = true;
  // A client that drains ends the candidacy on the strand, where no user code may run. So the stop
  // is requested on the callback executor.
  candidacy->over()->on_request(
      self.get(), [executor = candidacy->client().callback_executor(), stop = turn->stop_source()] {
        asio::post(executor, [asked = stop]() mutable { asked.request_stop(); });
      });
  const int before = self->refusals_;
  self->hand_over(std::move(turn));
  while (self->in_turn_) co_await candidacy->wait_for_change(Deadline::never(), nullptr);
  candidacy->over()->forget(self.get());
  if (self->refusals_ == before) {
    self->refusals_ = 0;
  } else {
    // The pause spares the servers a selector whose executor refuses again and again.
    co_await back_off(candidacy->client(), before, Deadline::never(), candidacy->over());
  }
}

void Selector::hand_over(std::shared_ptr<LeaderTurn> turn) {
  std::exception_ptr refused;
  try {
    const std::lock_guard lock{handing_over_};
    if (hands_over_) function_(executor_, turn);
  } catch (...) {
    // A user's executor may refuse work by an exception, which ends the turn.
    refused = std::current_exception();
  }
  if (!refused) return;
  ++refusals_;
  turn->end(std::move(refused));
}

void Selector::hand_over_no_more() {
  const std::lock_guard lock{handing_over_};
  hands_over_ = false;
}

bool Selector::wants_a_turn() {
  const std::lock_guard lock{mutex_};
  if (std::exchange(had_no_turn_, false)) return true;
  const bool requested = std::exchange(requested_, false);
  return requested || options_.requeue == LeaderSelectorOptions::Requeue::always;
}

bool Selector::begin(const LeaderTurn& turn) {
  const std::lock_guard lock{mutex_};
  if (state_ == State::closed) return false;
  if (turn.leadership().state() == LeaseState::lost) {
    // The function did not run, so the next turn needs no new request.
    had_no_turn_ = true;
    return false;
  }
  running_ = true;
  leadership_ = turn.leadership().share();
  stop_ = turn.stop_source();
  return true;
}

void Selector::on_ended(std::exception_ptr thrown) {
  const Client& client = candidacy_->client();
  Lease leadership;
  {
    const std::lock_guard lock{mutex_};
    running_ = false;
    leadership = std::move(leadership_);
    stop_ = std::stop_source{std::nostopstate};
  }
  returned_.notify_all();
  leadership.release();
  if (thrown) {
    client.log(LogLevel::error,
               candidacy_->spec()->path + ": the leader's function has thrown: " + what_of(thrown));
    if (options_.on_exception) {
      asio::post(client.callback_executor(), [callback = options_.on_exception,
                                              thrown = std::move(thrown)] { callback(thrown); });
    }
  }
  asio::dispatch(client.get_executor(), [self = shared_from_this()] {
    self->in_turn_ = false;
    self->candidacy_->notify();
  });
}

bool Selector::requeue() {
  if (in_forked_child()) return false;
  {
    const std::lock_guard lock{mutex_};
    if (state_ == State::latent) {
      throw Error{Errc::invalid_argument, "LeaderSelector::requeue", candidacy_->spec()->path,
                  "start() it first"};
    }
    if (state_ == State::closed || std::exchange(requested_, true)) return false;
  }
  asio::post(candidacy_->client().get_executor(),
             [candidacy = candidacy_] { candidacy->notify(); });
  return true;
}

bool Selector::interrupt() {
  if (in_forked_child()) return false;
  std::optional<std::stop_source> stop;
  {
    const std::lock_guard lock{mutex_};
    if (running_) stop = stop_;
  }
  // The mutex is unlocked here, because a stop callback may call back into the selector.
  if (stop) stop->request_stop();
  return stop.has_value();
}

void Selector::close() {
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(state_, State::closed) == State::closed) return;
  }
  static_cast<void>(interrupt());
  candidacy_->end();
}

bool Selector::is_running() const {
  if (in_forked_child()) return false;
  const std::lock_guard lock{mutex_};
  return running_ && leadership_.state() != LeaseState::lost;
}

void Selector::wait_until_function_returned() {
  std::unique_lock lock{mutex_};
  returned_.wait(lock, [this] { return !running_; });
}

LeaderTurn::LeaderTurn(SelectorPtr selector, Lease leadership)
    : selector_{std::move(selector)}, leadership_{std::move(leadership)} {}

LeaderTurn::~LeaderTurn() { end(nullptr); }

bool LeaderTurn::begin() {
  if (!selector_->begin(*this)) return false;
  on_loss_.emplace(leadership_.lost(), [stop = stop_]() mutable { stop.request_stop(); });
  return true;
}

void LeaderTurn::end(std::exception_ptr thrown) noexcept {
  const SelectorPtr selector = std::exchange(selector_, nullptr);
  if (!selector) return;
  on_loss_.reset();
  leadership_.release();
  selector->on_ended(std::move(thrown));
}

namespace {

asio::awaitable<Result<void>> join(SelectorPtr selector, CancellationPtr cancellation) {
  const CandidacyPtr candidacy = selector->candidacy();
  candidacy->attach();
  while (!selector->is_over() && !(cancellation && cancellation->requested())) {
    co_await candidacy->wait_for_change(Deadline::never(), cancellation);
  }
  if (!selector->is_over()) co_return make_error_code(asio::error::operation_aborted);
  co_return Result<void>{};
}

}  // namespace

void start_join(CorePtr, CancellationPtr cancellation, SelectorPtr selector, Handler<> handler) {
  spawn(selector->candidacy()->client().core(), "LeaderSelector::join",
        join(selector, std::move(cancellation)), std::move(handler));
}

}  // namespace recipes_detail

using recipes_detail::LeaderFunctionKind;

LeaderSelector::LeaderSelector(const Client& client, std::string path, LeaderFunctionKind kind,
                               recipes_detail::LeaderFunction function,
                               LeaderSelectorOptions options)
    : LeaderSelector{
          recipes_detail::make_candidacy(client, "LeaderSelector", recipes_detail::mutex_rule,
                                         std::move(path), std::move(options.candidate)),
          kind, std::move(function), std::move(options)} {}

LeaderSelector::LeaderSelector(recipes_detail::CandidacyPtr candidacy, LeaderFunctionKind kind,
                               recipes_detail::LeaderFunction function,
                               LeaderSelectorOptions options)
    : Candidate{candidacy->spec()}, kind_{kind} {
  asio::any_io_executor executor = options.executor.value_or(client().callback_executor());
  if (kind_ == LeaderFunctionKind::blocking && !options.executor) {
    thread_ = std::make_unique<asio::thread_pool>(1);
    executor = thread_->get_executor();
  }
  selector_ = std::make_shared<recipes_detail::Selector>(std::move(candidacy), std::move(function),
                                                         std::move(executor), std::move(options));
}

LeaderSelector::~LeaderSelector() {
  if (client().unusable() == Errc::forked) {
    // The child of a fork has no copy of the thread, and could not join it.
    [[maybe_unused]] const auto* const leaked = thread_.release();
    return;
  }
  selector_->close();
  selector_->hand_over_no_more();
  if (kind_ == LeaderFunctionKind::blocking) selector_->wait_until_function_returned();
  if (thread_) thread_->join();
}

void LeaderSelector::start() { selector_->start(); }
bool LeaderSelector::requeue() { return selector_->requeue(); }
bool LeaderSelector::interrupt_leadership() { return selector_->interrupt(); }

void LeaderSelector::close() {
  if (client().unusable() != Errc::forked) selector_->close();
}

void LeaderSelector::join(std::stop_token stop) const {
  block_or_throw<&recipes_detail::start_join>(core(), "LeaderSelector::join", path(),
                                              std::move(stop), selector_);
}

bool LeaderSelector::has_leadership() const { return selector_->is_running(); }

}  // namespace custodian
