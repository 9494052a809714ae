#include "custodian/testing/for_each_fault.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

namespace custodian::testing {

namespace {

/// Makes one request fail.
class OneFault final : public FaultPlan {
 public:
  OneFault(const Fault& fault, std::size_t at, std::string client)
      : fault_{fault}, at_{at}, client_{std::move(client)} {}

  Fault on_submit(const Submission& submission) override {
    if (!client_.empty() && submission.client != client_) return {};
    return sent_.fetch_add(1) == at_ ? fault_ : Fault{};
  }

  [[nodiscard]] bool has_struck() const noexcept { return sent_ > at_; }

 private:
  const Fault fault_;
  const std::size_t at_;
  const std::string client_;
  std::atomic<std::size_t> sent_ = 0;
};

void run(const FaultScenario& scenario, const std::shared_ptr<FaultPlan>& plan,
         const std::string& fault) {
  FakeEnsemble ensemble;
  ensemble.set_fault_plan(plan);
  try {
    scenario(ensemble, fault);
  } catch (const std::exception& error) {
    std::throw_with_nested(std::runtime_error{fault + ": " + error.what()});
  }
}

}  // namespace

std::vector<Fault> usual_faults() {
  std::vector<Fault> all;
  for (const FaultKind kind : {FaultKind::fail_before, FaultKind::fail_after}) {
    for (const EarlierReplies earlier : {EarlierReplies::arrive, EarlierReplies::are_lost}) {
      for (const NextServer next : {NextServer::current, NextServer::lags_behind}) {
        all.push_back({.kind = kind, .earlier = earlier, .next_server = next});
      }
    }
    all.push_back({.kind = kind, .next_watches = NextWatches::are_dropped});
  }
  for (const FaultKind kind :
       {FaultKind::disconnect, FaultKind::expire_before, FaultKind::expire_after}) {
    for (const EarlierReplies earlier : {EarlierReplies::arrive, EarlierReplies::are_lost}) {
      all.push_back({.kind = kind, .earlier = earlier});
    }
  }
  all.push_back({.kind = FaultKind::apply_late, .requests_later = 2});
  all.push_back({.kind = FaultKind::delay, .turns = 5});
  all.push_back({.kind = FaultKind::throttle});
  return all;
}

std::string to_string(const Fault& fault) {
  std::string text{to_string(fault.kind)};
  if (fault.earlier == EarlierReplies::are_lost) text += ", earlier replies lost";
  if (fault.next_server == NextServer::lags_behind) text += ", then a server that lags behind";
  if (fault.next_watches == NextWatches::are_dropped) text += ", watches dropped";
  return text;
}

std::size_t for_each_fault(const FaultScenario& scenario, const ForEachFaultOptions& options) {
  run(scenario, nullptr, "no fault");
  std::size_t runs = 1;
  for (const Fault& fault : options.faults) {
    for (std::size_t at = 0;; ++at) {
      const auto plan = std::make_shared<OneFault>(fault, at, options.client);
      run(scenario, plan, to_string(fault) + " at request " + std::to_string(at + 1));
      ++runs;
      if (!plan->has_struck()) break;
    }
  }
  return runs;
}

}  // namespace custodian::testing
