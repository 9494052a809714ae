#include "scripted/shared/shared_value_play.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include "shared/big_endian.hpp"

namespace custodian::tests {

namespace asio = boost::asio;

namespace {

using Count = Versioned<std::int32_t>;

constexpr auto path = "/p/q/count";
constexpr std::int32_t seed_value = 3;
constexpr std::int32_t there = 5;
constexpr std::int32_t desired = 7;
constexpr std::int32_t others = 9;

bool hides_the_outcome(const Fault& fault) {
  return fault.kind == FaultKind::fail_before || fault.kind == FaultKind::fail_after ||
         fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
}

class CountPlay {
 public:
  explicit CountPlay(const CountCase& played)
      : case_{played}, plan_{std::make_shared<FaultsAt>("observed", played.faults)} {}

  CountVerdict run() {
    prepare();
    begin();
    if (case_.act == CountAct::wait) let_others_write();
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

  void prepare() {
    client_ = world_.client("observed");
    count_.emplace(*client_, path, seed_value);
    if (case_.node_exists) {
      world_.make("/p");
      world_.make("/p/q");
      world_.make(path, bytes_of(1));
      const Count old = look().value();
      world_.ensemble.operate(request::Set{path, bytes_of(there)});
      known_ = case_.act == CountAct::stale_exchange ? old : look().value();
    }
    before_ = look();
    plan_->submitted = [this](std::size_t step) {
      if (case_.deleted_at == step) {
        asio::post(world_.context, [this] { world_.ensemble.remove_tree("/p"); });
      }
      if (due(CountCancelMoment::request_sent, step)) {
        asio::post(client_->get_executor(), [this] { signal_.emit(asio::cancellation_type::all); });
      }
    };
    plan_->replying = [this](std::size_t step) {
      if (due(CountCancelMoment::before_reply, step)) signal_.emit(asio::cancellation_type::all);
    };
    plan_->replied = [this](std::size_t step) {
      if (due(CountCancelMoment::after_reply, step)) signal_.emit(asio::cancellation_type::all);
    };
    world_.ensemble.clear_history();
    world_.ensemble.set_fault_plan(plan_);
  }

  [[nodiscard]] bool due(CountCancelMoment moment, std::size_t step) const {
    return case_.cancel && case_.cancel->moment == moment && case_.cancel->at == step;
  }

  /// Reads the count from the servers.
  [[nodiscard]] std::optional<Count> look() {
    const Reply reply = world_.ensemble.operate(request::Get{path});
    if (reply.error) return std::nullopt;
    return Count{recipes_detail::from_big_endian<std::int32_t>(reply.data).value(),
                 reply.stat.version, reply.stat.mzxid};
  }

  void begin() {
    const auto ended = [this](error_code error, bool written, const Count& value) {
      arrived_ = true;
      error_ = error;
      written_ = written;
      value_ = value;
    };
    const auto slotted = [this](auto handler) {
      return asio::bind_cancellation_slot(signal_.slot(), std::move(handler));
    };
    const auto read = [ended](error_code error, const Count& value) { ended(error, false, value); };
    switch (case_.act) {
      case CountAct::load: return count_->async_load(case_.options, slotted(read));
      case CountAct::store:
        return count_->async_store(desired, case_.options,
                                   slotted([ended](error_code error) { ended(error, true, {}); }));
      case CountAct::exchange:
      case CountAct::stale_exchange:
        return count_->async_compare_exchange(known_, desired, case_.options, slotted(ended));
      case CountAct::wait: return count_->async_wait(known_, slotted(read));
    }
  }

  /// Writes another value when the operation waits.
  void let_others_write() {
    world_.run_until(
        [this] { return arrived_ || (world_.ensemble.watches() > 0 && look() == before_); });
    if (!arrived_) world_.ensemble.operate(request::Set{path, bytes_of(others)});
  }

  void judge() {
    if (!arrived_) return;
    const std::optional<Count> now = look();
    if (error_) return judge_error(now);
    // The node may have been deleted before the operation or after it.
    if (case_.deleted_at) return;
    if (!now) return complain("there is no node");
    switch (case_.act) {
      case CountAct::load:
        if (value_ != now) complain("not what is there");
        if (now->value != (case_.node_exists ? there : seed_value))
          complain("something was written");
        return;
      case CountAct::store:
        if (now->value != desired) complain("not written");
        return;
      case CountAct::exchange:
      case CountAct::stale_exchange:
        if (value_ != now) complain("not what is there");
        if (written_ != (case_.node_exists && case_.act == CountAct::exchange)) {
          complain("written, or not, and should have been otherwise");
        }
        if (written_ != (now->value == desired)) complain("written, and yet not, or the reverse");
        return;
      case CountAct::wait:
        if (value_ != now) complain("not what is there");
        if (value_.mzxid <= known_.mzxid) complain("nothing new");
        return;
    }
  }

  void judge_error(const std::optional<Count>& now) {
    const bool cancelled = case_.cancel && error_ == asio::error::operation_aborted;
    if (error_ == ErrorCondition::outcome_unknown || cancelled) {
      const bool hidden = std::ranges::any_of(
          case_.faults, [](const auto& each) { return hides_the_outcome(each.second); });
      const bool exchanges =
          case_.act == CountAct::exchange || case_.act == CountAct::stale_exchange;
      const bool asks = case_.act == CountAct::store || (exchanges && case_.node_exists);
      const bool writes = asks && case_.act != CountAct::stale_exchange;
      if (!cancelled && !(hidden && asks) && !case_.options.retry) {
        complain("the outcome is known, but: " + error_.message());
      }
      const bool changed = now && now->value != (before_ ? before_->value : seed_value);
      if (changed && !(writes && now->value == desired) && now->value != others) {
        complain("there is something that nobody wrote");
      }
      return;
    }
    // With any other error the value is the same as before, or the one with which the node was
    // created.
    if (now && now->value != (before_ ? before_->value : seed_value))
      complain("written with an error");
    if (!case_.options.retry) complain("it fails: " + error_.message());
  }

  void leave_nothing() {
    if (!world_.run_until_idle(*client_)) complain("requests or watches are left in the client");
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    // An unconditional write that is sent again might undo another client's write.
    const auto history = world_.ensemble.history();
    for (const auto& [at, fault] : case_.faults) {
      const bool doubtful = hides_the_outcome(fault) && at < history.size();
      if (doubtful && history[at].kind == "set" && at + 1 != history.size()) {
        complain("something follows a write of which nobody knows whether it was applied");
      }
    }
    count_.reset();
    if (!world_.end(client_)) complain("something keeps the client alive");
  }

  const CountCase& case_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  World world_;
  std::unique_ptr<Client> client_;
  std::optional<SharedCount> count_;
  Count known_;
  std::optional<Count> before_;
  bool arrived_ = false;
  error_code error_;
  bool written_ = false;
  Count value_;
  CountVerdict verdict_;
};

}  // namespace

std::string bytes_of(std::int32_t count) { return recipes_detail::to_big_endian(count); }

CountVerdict play(const CountCase& played) { return CountPlay{played}.run(); }

std::string describe(const CountCase& played) {
  constexpr const char* names[] = {"load", "store", "exchange", "stale exchange", "wait"};
  std::string text = names[static_cast<int>(played.act)];
  text += played.node_exists ? " of a node" : " of nothing";
  for (const auto& [at, fault] : played.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (played.cancel) {
    constexpr const char* moments[] = {"with request ", "before reply ", "after reply "};
    text += std::string{"; cancelled "} + moments[static_cast<int>(played.cancel->moment)] +
            std::to_string(played.cancel->at);
  }
  if (played.deleted_at) text += "; deleted with request " + std::to_string(*played.deleted_at);
  return text;
}

}  // namespace custodian::tests
