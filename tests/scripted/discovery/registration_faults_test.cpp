// Registrations and reads with a fault at each request: the instance is there in the end, and
// nothing is left behind.

#include <iostream>

#include "scripted/discovery/discovery_scene.hpp"

namespace custodian::tests::registration_faults_test {
namespace {

struct Case {
  ServiceType type = ServiceType::dynamic;
  bool is_restarted = false;  ///< an earlier life of the process has registered the instance
  Faults faults{};
};

std::string describe(const Case& played) {
  std::string text{to_string(played.type)};
  if (played.is_restarted) text += ", restarted";
  for (const auto& [at, fault] : played.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  return text;
}

/// Registers an instance, reads it and unregisters it.
class Play {
 public:
  explicit Play(const Case& played)
      : case_{played}, plan_{std::make_shared<FaultsAt>("one", played.faults)} {
    instance_.type = played.type;
  }

  /// Returns what was wrong.
  std::string run() {
    client_ = world_.client_that_counts_strays("one");
    live_earlier();
    world_.ensemble.set_fault_plan(plan_);
    live();
    if (earlier_) world_.ensemble.expire(earlier_->session().id);
    expect("gone", [this] { return world_.ensemble.children("/services/printer").empty(); });
    end_earlier();
    check(world_.run_until_idle(*client_), "requests or watches are left");
    check(world_.end(client_), "something keeps the client alive");
    check(world_.strays == 0, "a node was left behind");
    return std::move(violation_);
  }
  [[nodiscard]] std::size_t steps() const { return plan_->steps(); }

 private:
  void check(bool holds, const std::string& what) {
    if (violation_.empty() && !holds) violation_ = what;
  }
  void expect(const std::string& what, const std::function<bool()>& condition) {
    check(violation_.empty() && world_.run_until(condition), "not " + what);
  }

  /// The process has died, and its session has not run out.
  void live_earlier() {
    if (!case_.is_restarted) return;
    earlier_ = world_.client("earlier");
    before_ = tests::run<Registration>(world_, [&](auto done) {
      ServiceDiscovery{*earlier_, "/services"}.async_register_service(instance_, done);
    });
    check(before_.arrived() && !before_.error(), "no earlier life");
    world_.ensemble.cut_off("earlier");
  }

  void end_earlier() {
    if (!earlier_) return;
    if (before_.arrived()) before_.result() = {};
    world_.ensemble.let_in("earlier");
    check(world_.run_until_idle(*earlier_) && world_.end(earlier_), "the earlier life goes on");
  }

  void live() {
    const ServiceDiscovery discovery{*client_, "/services"};
    const auto registered = tests::run<Registration>(
        world_, [&](auto done) { discovery.async_register_service(instance_, done); });
    check(registered.arrived() && !registered.error(), "not registered");
    if (!violation_.empty()) return;
    const auto found = tests::run<std::vector<ServiceInstance>>(
        world_, [&](auto done) { discovery.async_instances("printer", done); });
    check(found.arrived() && !found.error(), "not read");
    expect("there", [&] { return is_there(registered.result()); });
  }

  [[nodiscard]] bool is_there(const Registration& registration) {
    const std::string path = registration.path();
    if (path.empty()) return false;
    const Reply node = world_.ensemble.operate(request::Get{path});
    const bool lives_on = case_.type == ServiceType::fixed;
    const std::int64_t owner = lives_on ? 0 : client_->session().id;
    return !node.error && node.stat.ephemeral_owner == owner &&
           node.data == encode_instance(registration.instance());
  }

  const Case& case_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Client> earlier_;
  Outcome<Registration> before_;
  ServiceInstance instance_ = printer("a");
  std::string violation_;
};

TEST_CASE("discovery: an instance is registered, and unregistered, through every fault",
          "[discovery]") {
  int cases = 0;
  const auto play = [&](const Case& played) {
    Play one{played};
    const std::string violation = one.run();
    ++cases;
    if (!violation.empty()) FAIL(describe(played) << ": " << violation);
    return one.steps();
  };
  for (const ServiceType type :
       {ServiceType::dynamic, ServiceType::fixed, ServiceType::dynamic_sequential}) {
    for (const bool is_restarted : {false, true}) {
      const std::size_t steps = play({.type = type, .is_restarted = is_restarted});
      for (std::size_t at = 0; at < steps; ++at) {
        for (const Fault& fault : sampled(all_faults())) play({type, is_restarted, {{at, fault}}});
      }
    }
  }
  std::cout << "  " << cases << " cases\n";
}

}  // namespace
}  // namespace custodian::tests::registration_faults_test
