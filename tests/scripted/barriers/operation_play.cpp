#include "scripted/barriers/operation_play.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "scripted/plays.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

namespace asio = boost::asio;

bool Disturbance::hides_an_outcome() const {
  return std::ranges::any_of(faults, [](const auto& each) {
    const FaultKind kind = each.second.kind;
    return kind == FaultKind::fail_before || kind == FaultKind::fail_after ||
           kind == FaultKind::expire_before || kind == FaultKind::expire_after;
  });
}

std::string describe(const Disturbance& disturbance) {
  std::string text;
  for (const auto& [at, fault] : disturbance.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (disturbance.cancel) {
    constexpr const char* moments[] = {"with request ", "before reply ", "after reply "};
    text += std::string{"; cancelled "} + moments[static_cast<int>(disturbance.cancel->first)] +
            std::to_string(disturbance.cancel->second);
  }
  return text;
}

OperationPlay::OperationPlay(const Disturbance& disturbance)
    : disturbance_{disturbance},
      client_{world_.client("observed")},
      plan_{std::make_shared<FaultsAt>("observed", disturbance.faults)} {}

void OperationPlay::complain(const std::string& what) {
  if (verdict_.violation.empty()) verdict_.violation = what;
}

bool OperationPlay::due(CancelMoment moment, std::size_t step) const {
  return disturbance_.cancel && *disturbance_.cancel == std::pair{moment, step};
}

void OperationPlay::disturb() {
  plan_->submitted = [this](std::size_t step) {
    on_request(step);
    if (!due(CancelMoment::request_sent, step)) return;
    asio::post(client_->get_executor(), [this] { signal_.emit(asio::cancellation_type::all); });
  };
  plan_->replying = [this](std::size_t step) {
    if (due(CancelMoment::before_reply, step)) signal_.emit(asio::cancellation_type::all);
  };
  plan_->replied = [this](std::size_t step) {
    if (due(CancelMoment::after_reply, step)) signal_.emit(asio::cancellation_type::all);
  };
  world_.ensemble.clear_history();
  world_.ensemble.set_fault_plan(plan_);
}

PlayVerdict OperationPlay::run() {
  prepare();
  disturb();
  begin();
  meanwhile();
  if (!world_.run_until_arrived(outcome_)) complain("it does not end");
  verdict_.steps = plan_->steps();
  if (outcome_.arrived()) {
    const error_code error = outcome_.error();
    const bool cancelled = disturbance_.cancel && error == asio::error::operation_aborted;
    if (!cancelled) judge(error, outcome_.result());
  }
  leave_nothing();
  return std::move(verdict_);
}

void OperationPlay::judge_unknown(error_code error) {
  const bool honest = disturbance_.hides_an_outcome() && error == ErrorCondition::outcome_unknown;
  if (!honest) complain("it fails: " + error.message());
}

void OperationPlay::leave_nothing() {
  if (!world_.run_until_idle(*client_)) complain("requests or watches are left in the client");
  if (watches_left() != 0) complain("a watch is left on the server");
  world_.ensemble.apply_late_requests();
  judge_servers();
  forget();
  if (!world_.end(client_)) complain("something keeps the client alive");
}

// -- All plays of a case --------------------------------------------------------------------------

namespace {

/// Counts the plays, and stops when too many go wrong.
class Tally : public Plays {
 public:
  Tally(const std::string& name, const Played& play) : Plays{name}, name_{name}, play_{play} {}

  std::size_t play(const Disturbance& disturbance) {
    const PlayVerdict verdict = play_(disturbance);
    add(verdict.violation, [&] { return name_ + describe(disturbance); });
    return verdict.steps;
  }

 private:
  const std::string& name_;
  const Played& play_;
};

constexpr CancelMoment all_moments[] = {CancelMoment::request_sent, CancelMoment::before_reply,
                                        CancelMoment::after_reply};

}  // namespace

std::size_t play_every_fault(const std::string& name, const Played& play) {
  Tally tally{name, play};
  const std::size_t steps = tally.play({});
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) tally.play({.faults = {{at, fault}}});
  }
  return steps;
}

void play_every_pair(const std::string& name, const Played& play) {
  Tally tally{name, play};
  Sample sample;
  const std::size_t steps = tally.play({});
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : all_faults()) {
      const std::size_t longer = tally.play({.faults = {{at, fault}}});
      for (std::size_t next = at + 1; next < std::min(longer, at + 3); ++next) {
        for (const Fault& another : all_faults()) {
          if (sample.takes_next()) tally.play({.faults = {{at, fault}, {next, another}}});
        }
      }
    }
  }
}

void play_every_cancellation(const std::string& name, const Played& play) {
  Tally tally{name, play};
  Sample sample;
  const std::size_t steps = tally.play({});
  for (std::size_t at = 0; at < steps; ++at) {
    for (const CancelMoment moment : all_moments) tally.play({.cancel = std::pair{moment, at}});
    for (const Fault& fault : all_faults()) {
      const std::size_t longer = tally.play({.faults = {{at, fault}}});
      for (std::size_t when = at; when < std::min(longer, at + 3); ++when) {
        for (const CancelMoment moment : all_moments) {
          if (!sample.takes_next()) continue;
          tally.play({.faults = {{at, fault}}, .cancel = std::pair{moment, when}});
        }
      }
    }
  }
}

}  // namespace custodian::tests
