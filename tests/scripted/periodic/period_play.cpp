#include "scripted/periodic/period_play.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include "periodic/period_record.hpp"

namespace custodian::tests {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

PeriodOptions options_of(PeriodAct act) {
  PeriodOptions options{.every = 1h};
  if (act == PeriodAct::broken_off) options.after_failure = AfterFailure::retry;
  return options;
}

class PeriodPlay {
 public:
  explicit PeriodPlay(const PeriodCase& played)
      : case_{played}, plan_{std::make_shared<FaultsAt>("observed", played.faults)} {}

  PeriodVerdict run() {
    prepare();
    begin();
    if (!world_.run_until([this] { return arrived_; })) complain("it does not end");
    verdict_.steps = plan_->steps();
    judge();
    leave_nothing();
    return std::move(verdict_);
  }

 private:
  void complain(const std::string& what) {
    if (verdict_.violation.empty()) verdict_.violation = what;
  }

  /// A run of another client.
  Turn others_turn() {
    const auto begun = tests::run<TurnResult>(
        world_, [this](auto done) { others_->async_try_begin(std::move(done)); });
    if (!begun.arrived() || begun.error() || !begun.result()) {
      complain("the other client has no turn");
      return {};
    }
    return std::move(begun.result().turn);
  }

  void end(Turn turn) {
    const auto ended = tests::run<>(
        world_, [&](auto done) { turn.async_end(RunEnd::success(), std::move(done)); });
    if (!ended.arrived() || ended.error()) complain("the other client's run does not end");
  }

  void prepare() {
    other_ = world_.client("other");
    client_ = world_.client("observed");
    others_.emplace(*other_, job_path, options_of(case_.act));
    job_.emplace(*client_, job_path, options_of(case_.act));
    switch (case_.act) {
      case PeriodAct::first: break;
      case PeriodAct::due:
        end(others_turn());
        move_back(world_, 1h);
        break;
      case PeriodAct::broken_off: others_turn() = Turn{}; break;
      case PeriodAct::has_run: end(others_turn()); break;
      case PeriodAct::is_running: others_turn_ = others_turn(); break;
      case PeriodAct::end: {
        auto begun = tests::run<TurnResult>(
            world_, [this](auto done) { job_->async_try_begin(std::move(done)); });
        result_ = std::move(begun.result());
        break;
      }
    }
    world_.run_until_idle(*other_);
    world_.run_until_idle(*client_);
    before_ = recorded(world_);
    plan_->submitted = [this](std::size_t step) {
      if (case_.broken_at == step) asio::post(world_.context, [this] { break_lock(); });
      if (due(CancelMoment::request_sent, step)) {
        asio::post(client_->get_executor(), [this] { signal_.emit(asio::cancellation_type::all); });
      }
    };
    plan_->replying = [this](std::size_t step) {
      if (due(CancelMoment::before_reply, step)) signal_.emit(asio::cancellation_type::all);
    };
    plan_->replied = [this](std::size_t step) {
      if (due(CancelMoment::after_reply, step)) signal_.emit(asio::cancellation_type::all);
    };
    world_.ensemble.set_fault_plan(plan_);
  }

  void break_lock() {
    for (const std::string& name : world_.ensemble.children(job_lock_path)) {
      world_.remove(std::string{job_lock_path} + "/" + name);
    }
  }

  [[nodiscard]] bool due(CancelMoment moment, std::size_t step) const {
    return case_.cancel && case_.cancel->moment == moment && case_.cancel->at == step;
  }

  void begin() {
    if (case_.act == PeriodAct::end) {
      return result_.turn.async_end(
          RunEnd{.state = RunState::failed, .status = 3},
          asio::bind_cancellation_slot(signal_.slot(), [this](error_code error) {
            arrived_ = true;
            error_ = error;
          }));
    }
    job_->async_try_begin(
        asio::bind_cancellation_slot(signal_.slot(), [this](error_code error, TurnResult result) {
          arrived_ = true;
          error_ = error;
          result_ = std::move(result);
        }));
  }

  [[nodiscard]] bool is_cancelled() const {
    return case_.cancel && error_ == asio::error::operation_aborted;
  }

  void judge() {
    if (!arrived_) return;
    if (case_.act == PeriodAct::end) return judge_end();
    const std::optional<PeriodRun> now = recorded(world_);
    if (error_) {
      if (!is_cancelled()) complain("it fails: " + error_.message());
      if (result_) complain("a turn with an error");
      // A run that nobody knows of may be written down, and nothing else.
      if (now != before_ && !(now && now->by == "observed")) complain("another record");
      return;
    }
    switch (case_.act) {
      case PeriodAct::has_run: return judge_none(NotDue::has_run, now);
      case PeriodAct::is_running:
        // The other client's node may be deleted.
        return judge_none(case_.broken_at ? NotDue::has_failed : NotDue::is_running, now);
      default: break;
    }
    if (!result_) {
      return complain("there is no turn: " + result_.explain());
    }
    if (!now || now->id != result_.turn.run().id || *now != result_.turn.run()) {
      return complain("the record is not that of the turn");
    }
    if (now->state != RunState::running || now->by != "observed") complain("it is another's");
    const int attempt = case_.act == PeriodAct::broken_off ? 2 : 1;
    if (now->attempt != attempt) complain("attempt " + std::to_string(now->attempt));
    if (now->missed != 0) complain("missed " + std::to_string(now->missed));
    if (case_.act == PeriodAct::due && now->due != before_->due + 1h) complain("not due then");
    const bool may_be_lost = case_.broken_at || !case_.faults.empty();
    const bool is_there = world_.ensemble.exists(result_.turn.lease().node());
    if (!is_there && !may_be_lost) complain("its lock is not held");
    // A deletion is noticed by the next beat, which is an hour away; the end of a session soon.
    const auto is_lost = [this] { return result_.turn.lease().state() == LeaseState::lost; };
    const bool is_broken_late = case_.broken_at && *case_.broken_at + 1 >= verdict_.steps;
    const bool is_known = is_there || (case_.broken_at ? is_lost() : world_.run_until(is_lost));
    if (!is_there && !is_broken_late && !is_known) {
      complain("its lock is not held, and the lease does not know");
    }
  }

  void judge_none(NotDue reason, const std::optional<PeriodRun>& now) {
    const bool is_broken = case_.broken_at && result_.reason == NotDue::is_running;
    if (result_) return complain("a turn in a period that has one");
    if (result_.reason != reason && !is_broken) complain("another reason: " + result_.explain());
    if (now != before_) complain("the record has changed");
    if (result_.explain().find("other") == std::string::npos) complain("it does not say who");
  }

  void judge_end() {
    const std::optional<PeriodRun> now = recorded(world_);
    if (!now) return complain("there is no record");
    const bool is_ended = now->state == RunState::failed && now->status == 3;
    if (now->id != before_->id) complain("another run's record");
    if (!error_ && !is_ended) complain("its end is not written");
    if (error_ && !is_cancelled()) complain("it fails: " + error_.message());
    if (result_.turn.lease()) complain("the lock is still held");
  }

  void leave_nothing() {
    result_ = {};
    others_turn_ = Turn{};
    world_.ensemble.release_replies();
    if (!world_.run_until_idle(*client_)) complain("requests or watches are left in the client");
    if (!world_.run_until_idle(*other_)) complain("the other client is not idle");
    const auto empty = [this] { return world_.ensemble.children(job_lock_path).empty(); };
    if (!world_.run_until(empty)) complain("a node of the lock is left");
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    job_.reset();
    others_.reset();
    if (!world_.end(client_)) complain("something keeps the client alive");
    if (!world_.end(other_)) complain("something keeps the other client alive");
  }

  const PeriodCase& case_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  World world_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Client> other_;
  std::optional<OncePerPeriod> job_;
  std::optional<OncePerPeriod> others_;
  Turn others_turn_;
  std::optional<PeriodRun> before_;
  bool arrived_ = false;
  error_code error_;
  TurnResult result_;
  PeriodVerdict verdict_;
};

}  // namespace

std::optional<PeriodRun> recorded(World& world) {
  const Reply reply = world.ensemble.operate(request::Get{record_path});
  if (reply.error) return std::nullopt;
  return recipes_detail::decode_run(reply.data).value();
}

void move_back(World& world, std::chrono::milliseconds by) {
  PeriodRun run = recorded(world).value();
  run.due -= by;
  run.begun -= by;
  world.ensemble.operate(request::Set{record_path, recipes_detail::encode(run)});
}

PeriodVerdict play(const PeriodCase& played) { return PeriodPlay{played}.run(); }

std::string describe(const PeriodCase& played) {
  constexpr const char* names[] = {"the first run",         "a run that is due",
                                   "one that is repeated",  "a period that has run",
                                   "one that is under way", "the end of a run"};
  std::string text = names[static_cast<int>(played.act)];
  for (const auto& [at, fault] : played.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (played.cancel) {
    constexpr const char* moments[] = {"with request ", "before reply ", "after reply "};
    text += std::string{"; cancelled "} + moments[static_cast<int>(played.cancel->moment)] +
            std::to_string(played.cancel->at);
  }
  if (played.broken_at) text += "; broken with request " + std::to_string(*played.broken_at);
  return text;
}

}  // namespace custodian::tests
