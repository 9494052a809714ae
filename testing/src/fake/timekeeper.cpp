#include "fake/timekeeper.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <limits>
#include <stdexcept>
#include <utility>

namespace custodian::testing {

namespace asio = boost::asio;

namespace {

void run(asio::io_context& context) {
  // A program whose context never runs out of work must not prevent the check of the time.
  constexpr int most_at_once = 10'000;
  if (context.stopped()) context.restart();
  for (int i = 0; i < most_at_once && context.poll_one() != 0; ++i) {
  }
}

/// The sum, but at most the largest time point.
BootClock::time_point sum(BootClock::time_point now, BootClock::duration time) {
  if (time < BootClock::duration::zero()) {
    throw std::invalid_argument{"a FakeClock does not go back"};
  }
  return now + std::min(time, BootClock::time_point::max() - now);
}

}  // namespace

// -- Alarms ---------------------------------------------------------------------------------------

class Timekeeper::FakeAlarm final : public Clock::Alarm {
 public:
  FakeAlarm(std::shared_ptr<Timekeeper> keeper, BellPtr bell)
      : keeper_{std::move(keeper)}, bell_{std::move(bell)} {}
  FakeAlarm(const FakeAlarm&) = delete;
  FakeAlarm& operator=(const FakeAlarm&) = delete;
  ~FakeAlarm() override { keeper_->remove(bell_); }

  void set(std::optional<BootClock::time_point> time) override { keeper_->set(bell_, time); }

 private:
  const std::shared_ptr<Timekeeper> keeper_;
  const BellPtr bell_;
};

std::unique_ptr<Clock::Alarm> Timekeeper::make_alarm(Clock::Executors executors,
                                                     std::function<void()> ring) {
  auto bell = std::make_shared<Bell>(std::move(executors), std::move(ring));
  {
    const std::lock_guard lock{mutex_};
    bells_.push_back(bell);
  }
  return std::make_unique<FakeAlarm>(shared_from_this(), std::move(bell));
}

void Timekeeper::set(const BellPtr& bell, std::optional<Time> due) {
  const std::lock_guard lock{mutex_};
  bell->due = due;
  bell->work = {};
  note_activity();
  if (!due) return;
  // No ring is missed, since the mutex is held: advancing moves the time first, and then takes the
  // mutex to search the bells.
  if (*due <= now()) return ring(bell);
  bell->work = asio::prefer(bell->executors.strand, asio::execution::outstanding_work.tracked);
}

void Timekeeper::remove(const BellPtr& bell) {
  {
    const std::lock_guard lock{mutex_};
    std::erase(bells_, bell);
    bell->executors = {};
    bell->work = {};
  }
  answered_.notify_all();
}

void Timekeeper::ring(const BellPtr& bell) {
  bell->due.reset();
  asio::post(bell->executors.strand, [weak = std::weak_ptr{bell}] {
    if (const auto rung = weak.lock()) rung->ring();
  });
  bell->work = {};
  note_activity();
}

bool Timekeeper::ring_due(Time now) {
  const std::lock_guard lock{mutex_};
  std::vector<BellPtr> due;
  std::ranges::copy_if(bells_, std::back_inserter(due),
                       [now](const BellPtr& bell) { return bell->due && *bell->due <= now; });
  std::ranges::stable_sort(due, {}, [](const BellPtr& bell) { return *bell->due; });
  for (const BellPtr& bell : due) ring(bell);
  return !due.empty();
}

// -- The servers ----------------------------------------------------------------------------------

void Timekeeper::add(std::weak_ptr<TimedServers> servers) {
  const std::lock_guard lock{mutex_};
  std::erase_if(servers_, [](const auto& each) { return each.expired(); });
  servers_.push_back(std::move(servers));
}

std::vector<std::shared_ptr<TimedServers>> Timekeeper::servers() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::shared_ptr<TimedServers>> alive;
  for (const auto& each : servers_) {
    if (auto one = each.lock()) alive.push_back(std::move(one));
  }
  return alive;
}

// -- Time -----------------------------------------------------------------------------------------

std::optional<Timekeeper::Time> Timekeeper::next_due() const {
  std::optional<Time> next;
  const auto consider = [&next](const std::optional<Time>& due) {
    if (due && (!next || *due < *next)) next = due;
  };
  for (const auto& each : servers()) consider(each->next_due());
  const std::lock_guard lock{mutex_};
  for (const BellPtr& bell : bells_) consider(bell->due);
  return next;
}

void Timekeeper::move_to(Time time) noexcept {
  Time now = now_;
  // jump() may have moved the time meanwhile, and the time never goes back.
  while (now < time && !now_.compare_exchange_weak(now, time)) {
  }
}

void Timekeeper::advance(Duration time, asio::io_context* context) {
  if (advances_.load() == std::this_thread::get_id()) {
    throw std::logic_error{"a FakeClock is advanced by what it waits for; take jump()"};
  }
  const std::lock_guard turn{advancing_};
  const Time end = sum(now(), time);
  advances_ = std::this_thread::get_id();
  try {
    move_by_steps(end, context);
  } catch (...) {  // thrown by a handler
    advances_ = std::thread::id{};
    throw;
  }
  advances_ = std::thread::id{};
}

void Timekeeper::move_by_steps(Time end, asio::io_context* context) {
  settle(context);
  for (auto next = next_due(); next && *next <= end; next = next_due()) {
    move_to(*next);
    const Time at = now();
    if (ring_due(at)) settle(context);
    // Servers come after the clients: a client's message at this very moment is in time.
    for (const auto& each : servers()) each->run_due(at);
    settle(context);
  }
  move_to(end);
  // Rings alarms that were set while the time moved.
  if (ring_due(now())) settle(context);
}

void Timekeeper::jump(Duration time) {
  const Time end = sum(now(), time);
  move_to(end);
  ring_due(end);
  for (const auto& each : servers()) each->run_due(end);
}

// -- Settling -------------------------------------------------------------------------------------

void Timekeeper::settle(asio::io_context* context) {
  // In each round a question takes the way that the report of a loss takes: from a client's strand
  // to its callback executor. A round is quiet if nothing was sent in it. A second quiet round is
  // for handlers that a callback has posted, a third one for work that was under way when settling
  // began.
  constexpr int quiet_enough = 3;
  // The limit ends the loop for a program that sends requests all the time.
  constexpr int most = 1'000;
  const Patience until = std::chrono::steady_clock::now() + patience_;
  for (int quiet = 0, round = 0; quiet < quiet_enough && round < most; ++round) {
    const std::uint64_t before = activity_;
    ask();
    if (!wait_for_answers(context, until)) return;
    quiet = activity_ == before ? quiet + 1 : 0;
  }
}

void Timekeeper::ask() {
  const std::lock_guard lock{mutex_};
  for (const BellPtr& bell : bells_) {
    if (std::exchange(bell->is_asked, true)) continue;  // has not answered the last question
    asio::post(bell->executors.strand, [keeper = shared_from_this(), weak = std::weak_ptr{bell}] {
      keeper->pass_question_on(weak);
    });
  }
}

void Timekeeper::pass_question_on(const std::weak_ptr<Bell>& bell) {
  const std::lock_guard lock{mutex_};
  const BellPtr alive = bell.lock();
  if (!alive || !alive->executors.strand) return;
  const auto& callbacks = alive->executors.callbacks;
  asio::post(callbacks ? callbacks : alive->executors.strand,
             [keeper = shared_from_this(), bell] { keeper->answer(bell); });
}

void Timekeeper::answer(const std::weak_ptr<Bell>& bell) {
  {
    const std::lock_guard lock{mutex_};
    const BellPtr alive = bell.lock();
    if (!alive) return;
    alive->is_asked = alive->is_stopped = false;
  }
  answered_.notify_all();
}

bool Timekeeper::is_answered() const {
  return std::ranges::none_of(
      bells_, [](const BellPtr& bell) { return bell->is_asked && !bell->is_stopped; });
}

bool Timekeeper::wait_for_answers(asio::io_context* context, Patience until) {
  // Work that other threads post to the context does not end a wait, so each wait is short.
  constexpr std::chrono::microseconds turn{50};
  for (;;) {
    if (context != nullptr) run(*context);
    std::unique_lock lock{mutex_};
    const auto now = std::chrono::steady_clock::now();
    const auto end = context != nullptr ? std::min(until, now + turn) : until;
    if (answered_.wait_until(lock, end, [this] { return is_answered(); })) return true;
    if (now < until) continue;
    for (const BellPtr& bell : bells_) bell->is_stopped = bell->is_asked;
    return false;
  }
}

}  // namespace custodian::testing
