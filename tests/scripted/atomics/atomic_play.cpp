#include "scripted/atomics/atomic_play.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include "shared/big_endian.hpp"

namespace custodian::tests {

namespace atomic_play {

namespace asio = boost::asio;

namespace {

using Number = Versioned<std::int64_t>;

constexpr auto place = "/p/q/number";
constexpr auto lock_path = "/locks/number";
constexpr std::int64_t there = 5;
constexpr std::int64_t added = 7;
constexpr std::int64_t others = 100;

bool hides_outcome(const Fault& fault) {
  return fault.kind == FaultKind::fail_before || fault.kind == FaultKind::fail_after ||
         fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after ||
         fault.kind == FaultKind::apply_late;
}

bool ends_session(const Fault& fault) {
  return fault.kind == FaultKind::expire_before || fault.kind == FaultKind::expire_after;
}

class AtomicPlay {
 public:
  explicit AtomicPlay(const AtomicCase& played)
      : case_{played}, plan_{std::make_shared<FaultsAt>("observed", played.faults)} {}

  AtomicVerdict run() {
    prepare();
    begin();
    if (!world_.run_until([this] { return arrived_; })) complain("it does not end");
    verdict_.steps = plan_->steps();
    verdict_.error = error_;
    world_.ensemble.apply_late_requests();
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
    UpdateOptions options{.settle = case_.settle};
    if (case_.promoted) options.promoted = PromotedToLock{.path = lock_path, .after_tries = 0};
    number_.emplace(*client_, place, options);
    if (case_.node_exists) {
      world_.make("/p");
      world_.make("/p/q");
      world_.make(place, bytes_of_long(there));
      if (case_.warm) {
        const auto warmed = tests::run<Updated<std::int64_t>>(
            world_, [&](auto done) { number_->async_fetch_add(0, done); });
        if (warmed.error()) complain("it cannot be warmed");
      }
      known_ = look().value();
      // Of a write before the last one.
      if (case_.act == AtomicAct::stale_compare) --known_.mzxid, --known_.version;
    }
    before_ = look();
    plan_->submitted = [this](std::size_t step) {
      if (due(AtomicCancelMoment::request_sent, step)) {
        asio::post(client_->get_executor(), [this] { signal_.emit(asio::cancellation_type::all); });
      }
    };
    plan_->replying = [this](std::size_t step) {
      if (case_.others_at == step && look()) {
        others_wrote_ = true;
        world_.ensemble.operate(request::Set{place, bytes_of_long(look()->value + others)});
      }
      if (case_.deleted_at == step) world_.ensemble.remove_tree("/p");
      if (due(AtomicCancelMoment::before_reply, step)) signal_.emit(asio::cancellation_type::all);
    };
    plan_->replied = [this](std::size_t step) {
      if (due(AtomicCancelMoment::after_reply, step)) signal_.emit(asio::cancellation_type::all);
    };
    world_.ensemble.set_fault_plan(plan_);
  }

  [[nodiscard]] bool due(AtomicCancelMoment moment, std::size_t step) const {
    return case_.cancel && case_.cancel->moment == moment && case_.cancel->at == step;
  }

  /// The number on the servers.
  [[nodiscard]] std::optional<Number> look() {
    const Reply reply = world_.ensemble.operate(request::Get{place});
    if (reply.error) return std::nullopt;
    return Number{recipes_detail::from_big_endian<std::int64_t>(reply.data).value_or(-1),
                  reply.stat.version, reply.stat.mzxid};
  }

  void begin() {
    const auto ended = [this](error_code error) {
      arrived_ = true;
      error_ = error;
    };
    const auto slotted = [this](auto handler) {
      return asio::bind_cancellation_slot(signal_.slot(), std::move(handler));
    };
    const auto updated = [this, ended](error_code error, const Updated<std::int64_t>& done) {
      done_ = done;
      ended(error);
    };
    const OperationOptions& options = case_.options;
    switch (case_.act) {
      case AtomicAct::load:
        return number_->async_load(options,
                                   slotted([this, ended](error_code error, const Number& now) {
                                     done_.before = done_.after = now;
                                     ended(error);
                                   }));
      case AtomicAct::store: return number_->async_store(added, options, slotted(ended));
      case AtomicAct::initialize:
        return number_->async_initialize(added, options,
                                         slotted([this, ended](error_code error, bool created) {
                                           done_.written = created;
                                           ended(error);
                                         }));
      case AtomicAct::add: return number_->async_fetch_add(added, options, slotted(updated));
      case AtomicAct::compare:
      case AtomicAct::stale_compare:
        return number_->async_compare_exchange(known_, added, options, slotted(updated));
      case AtomicAct::raise_to_less: return number_->async_fetch_max(-1, options, slotted(updated));
      case AtomicAct::update:
        return number_->async_update([](std::int64_t now) { return std::optional{now + added}; },
                                     options, slotted(updated));
    }
  }

  [[nodiscard]] bool adds() const {
    return case_.act == AtomicAct::add || case_.act == AtomicAct::update;
  }
  /// The number after the operation has written; other clients may have written, too.
  [[nodiscard]] bool is_written(std::int64_t now) const {
    const std::int64_t first = before_ ? before_->value : 0;
    if (adds()) return now == first + added + (others_wrote_ ? others : 0);
    return now == added || (others_wrote_ && now == added + others);
  }
  [[nodiscard]] bool is_untouched(std::int64_t now) const {
    const std::int64_t first = before_ ? before_->value : 0;
    return now == first + (others_wrote_ ? others : 0) || (others_wrote_ && now == first);
  }

  void judge() {
    if (!arrived_) return;
    const std::optional<Number> now = look();
    if (error_) return judge_error(now);
    if (case_.deleted_at) return judge_deleted(now);
    if (case_.act == AtomicAct::load) {
      if (!now && done_.after != Number{}) complain("something is read from nothing");
      if (now && !others_wrote_ && done_.after != now) complain("not what is there");
      return;
    }
    if (!now) return complain("there is no node");
    const bool writes = case_.act != AtomicAct::stale_compare &&
                        case_.act != AtomicAct::raise_to_less &&
                        (case_.act != AtomicAct::compare || case_.node_exists) &&
                        (case_.act != AtomicAct::initialize || !case_.node_exists);
    const bool may_be_beaten = case_.act == AtomicAct::compare && others_wrote_;
    const bool wrote = case_.act == AtomicAct::store || done_.written;
    if (wrote != writes && !may_be_beaten) complain("written, or not, and should be otherwise");
    if (wrote ? !is_written(now->value) : !is_untouched(now->value)) {
      complain("the value is " + std::to_string(now->value));
    }
    const bool tells = case_.act != AtomicAct::store && case_.act != AtomicAct::initialize;
    if (tells && !others_wrote_ && done_.after != now) complain("not what is there");
    if (tells && wrote && adds() && done_.after.value != done_.before.value + added) {
      complain("before and after do not fit");
    }
    if (case_.promoted && tells && !done_.promoted) complain("it had no lock");
  }

  /// The node may have been deleted before the operation or after it.
  void judge_deleted(const std::optional<Number>& now) {
    if (case_.act == AtomicAct::load) {
      if (now) complain("a load has created a node");
      return;
    }
    // The last request is the write, unless that is the delete of the lock's node.
    const std::size_t last = verdict_.steps - (case_.promoted ? 2 : 1);
    if (!now) {
      if (*case_.deleted_at < last) complain("there is no node");
      return;
    }
    const bool creates = case_.act == AtomicAct::initialize;
    const bool tells = case_.act != AtomicAct::store && !creates;
    const bool wrote = case_.act == AtomicAct::store || done_.written;
    if (tells && done_.after != now) complain("not what is there");
    // An operation that creates the node again begins with zero.
    if (now->value != (wrote ? added : 0)) complain("the value is " + std::to_string(now->value));
    if (wrote && adds() && done_.before.value != 0) complain("not what was there before");
    if (wrote && case_.act == AtomicAct::compare) complain("it has matched another node");
  }

  void judge_error(const std::optional<Number>& now) {
    const bool cancelled = case_.cancel && error_ == asio::error::operation_aborted;
    const bool unknown = error_ == ErrorCondition::outcome_unknown;
    const bool changes = now && is_written(now->value);
    if (now && !case_.deleted_at && !changes && !is_untouched(now->value)) {
      complain("the value is " + std::to_string(now->value));
    }
    if (cancelled) return;
    if (!unknown) {
      if (changes && !is_untouched(now->value)) complain("written with an error");
      if (!case_.options.retry) complain("it fails: " + error_.message());
      return;
    }
    const bool hidden = std::ranges::any_of(
        case_.faults, [](const auto& each) { return hides_outcome(each.second); });
    if (!hidden) complain("nothing was lost, but: " + error_.message());
    // With a witness only a lost session hides anything, and then only what another write covers.
    if (case_.settle == Settle::left_to_caller) return;
    if (case_.options.retry || case_.deleted_at) return;
    const bool lost = std::ranges::any_of(
        case_.faults, [](const auto& each) { return ends_session(each.second); });
    if (!lost) complain("the witness does not tell: " + error_.message());
    // A node that exists may be the one that was created.
    const bool covered = others_wrote_ || changes || case_.act == AtomicAct::initialize;
    if (!covered) complain("nothing has covered it, but: " + error_.message());
  }

  void leave_nothing() {
    number_.reset();
    if (!world_.run_until_idle(*client_)) complain("requests or watches are left in the client");
    const auto no_children = [this](const char* path) {
      return world_.ensemble.operate(request::GetChildren{path}).children.empty();
    };
    const auto is_tidy = [&] { return no_children(place) && no_children(lock_path); };
    if (!world_.run_until(is_tidy)) complain("a node is left");
    if (!world_.end(client_)) complain("something keeps the client alive");
  }

  const AtomicCase& case_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  World world_;
  std::unique_ptr<Client> client_;
  std::optional<DistributedAtomicLong> number_;
  Number known_;
  std::optional<Number> before_;
  bool others_wrote_ = false;
  bool arrived_ = false;
  error_code error_;
  Updated<std::int64_t> done_;
  AtomicVerdict verdict_;
};

}  // namespace

}  // namespace atomic_play

std::string bytes_of_long(std::int64_t number) { return recipes_detail::to_big_endian(number); }

AtomicVerdict play(const AtomicCase& played) { return atomic_play::AtomicPlay{played}.run(); }

std::string describe(const AtomicCase& played) {
  constexpr const char* names[] = {"load",    "store",         "initialize",    "add",
                                   "compare", "stale compare", "raise to less", "update"};
  std::string text = names[static_cast<int>(played.act)];
  text += played.settle == Settle::exactly_once ? " exactly once" : "";
  text += played.node_exists ? " of a node" : " of nothing";
  if (played.promoted) text += " under a lock";
  if (played.warm) text += ", not the first";
  for (const auto& [at, fault] : played.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (played.cancel) {
    constexpr const char* moments[] = {"with request ", "before reply ", "after reply "};
    text += std::string{"; cancelled "} + moments[static_cast<int>(played.cancel->moment)] +
            std::to_string(played.cancel->at);
  }
  if (played.others_at) text += "; others write at " + std::to_string(*played.others_at);
  if (played.deleted_at) text += "; deleted at " + std::to_string(*played.deleted_at);
  return text;
}

}  // namespace custodian::tests
