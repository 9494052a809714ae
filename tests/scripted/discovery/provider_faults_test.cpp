// A provider through every fault at every request: in the end it knows the present instances, an
// instance that stays is never missing, and nothing is left behind, whenever the provider is
// destroyed.

#include <boost/asio/post.hpp>

#include "custodian/discovery/service_provider.hpp"
#include "scripted/discovery/discovery_scene.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::provider_faults_test {
namespace {

namespace asio = boost::asio;

struct Case {
  Faults faults{};
  std::optional<std::size_t> destroyed_at{};  ///< when this request is sent
};

std::string describe(const Case& played) {
  std::string text;
  for (const auto& [at, fault] : played.faults) {
    text += "request " + std::to_string(at) + ": " + tests::describe(fault) + "; ";
  }
  if (played.destroyed_at) text += "destroyed with request " + std::to_string(*played.destroyed_at);
  return text;
}

class Play {
 public:
  explicit Play(const Case& played)
      : case_{played}, plan_{std::make_shared<FaultsAt>("one", played.faults)} {}

  std::string run() {
    client_ = world_.client("one");
    for (const char* path : {"/services", "/services/printer"}) world_.make(path);
    make("a", 1);
    make("b", 1);
    plan_->submitted = [this](std::size_t step) {
      if (case_.destroyed_at == step) asio::post(world_.context, [this] { destroy(); });
    };
    world_.ensemble.set_fault_plan(plan_);
    provider_.emplace(ServiceDiscovery{*client_, "/services"}, "printer");
    expect_what_is_there("at first");
    live();
    leave_nothing();
    return std::move(violation_);
  }
  [[nodiscard]] std::size_t steps() const { return plan_->steps(); }

 private:
  void complain(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }
  void destroy() {
    was_destroyed_ = true;
    provider_.reset();
  }

  static std::string path_of(const std::string& id) { return "/services/printer/" + id; }
  std::string data_of(const std::string& id, int port) {
    ServiceInstance instance = printer(id);
    instance.port = port;
    there_[id] = port;
    return encode_instance(instance);
  }
  void make(const std::string& id, int port) { world_.make(path_of(id), data_of(id, port)); }

  /// The instance "a" is there all the time.
  void live() {
    world_.ensemble.operate(request::Set{path_of("a"), data_of("a", 2)});
    expect_what_is_there("after a write");
    world_.ensemble.operate(request::Multi{
        {request::Remove{path_of("a")},
         request::Create{.path = path_of("a"), .data = data_of("a", 3), .acl = open_acl()}}});
    expect_what_is_there("after a take-over");
    world_.remove(path_of("b"));
    there_.erase("b");
    make("c", 1);
    expect_what_is_there("after others came and went");
    world_.remove(path_of("c"));
    make("c", 2);
    expect_what_is_there("after one was created anew");
  }

  [[nodiscard]] std::map<std::string, int> known() {
    std::map<std::string, int> result;
    for (const ServiceInstance& each : provider_->all()) result[each.id] = *each.port;
    return result;
  }
  void expect_what_is_there(const std::string& when) {
    const bool is_known = world_.run_until([&] {
      if (was_destroyed_) return true;
      const auto now = known();
      knew_a_ = knew_a_ || now.contains("a");
      if (knew_a_ && !now.contains("a")) complain("a was missing " + when);
      return now == there_;
    });
    if (!is_known) complain("not what is there " + when);
  }

  void leave_nothing() {
    provider_.reset();
    if (!world_.run_until_idle(*client_)) complain("requests or watches are left in the client");
    if (!world_.run_until([this] { return world_.ensemble.watches() == 0; })) {
      complain("a watch is left on the server");
    }
    if (!world_.end(client_)) complain("something keeps the client alive");
  }

  const Case& case_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  std::unique_ptr<Client> client_;
  std::optional<ServiceProvider> provider_;
  std::map<std::string, int> there_;  ///< the instances, with their ports
  bool knew_a_ = false;
  bool was_destroyed_ = false;
  std::string violation_;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const Case& played) {
    Play one{played};
    add(one.run(), [&] { return describe(played); });
    return one.steps();
  }
};

TEST_CASE("provider: it knows who is there through every fault", "[discovery]") {
  Tally tally{"one fault"};
  const std::size_t steps = tally.play({});
  for (std::size_t at = 0; at < steps; ++at) {
    for (const Fault& fault : sampled(all_faults())) tally.play({.faults = {{at, fault}}});
  }
}

TEST_CASE("provider: it may be destroyed at every request, also behind a fault", "[discovery]") {
  Tally tally{"destroyed"};
  Sample sample;
  const std::size_t steps = tally.play({});
  for (std::size_t at = 0; at < steps; ++at) {
    tally.play({.destroyed_at = at});
    for (const Fault& fault : all_faults()) {
      for (std::size_t end = at; end < at + 3; ++end) {
        if (sample.takes_next()) tally.play({.faults = {{at, fault}}, .destroyed_at = end});
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::provider_faults_test
