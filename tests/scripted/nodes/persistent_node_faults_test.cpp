// A persistent node with a fault at each request: it is there in the end, with the newest data, and
// nothing is left behind.

#include <algorithm>
#include <boost/asio/post.hpp>

#include "custodian/nodes/persistent_node.hpp"
#include "scripted/plays.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::persistent_node_faults_test {
namespace {

namespace asio = boost::asio;
using State = PersistentNodeState;
using Faults = std::vector<std::pair<std::size_t, Fault>>;

constexpr auto parent = "/services";
constexpr auto path = "/services/a";

struct Case {
  PersistentNodeOptions options{};
  bool is_taken = false;  ///< another client's ephemeral node is at the path at first
  Faults faults{};
  std::optional<std::size_t> closed_at{};  ///< closed when this request is sent
};

std::string describe(const Case& played) {
  std::string text = "mode " + std::to_string(static_cast<int>(played.options.mode));
  if (played.options.protection == Protection::by_unique_name) text += ", unique";
  if (played.is_taken) text += ", taken over";
  for (const auto& [at, fault] : played.faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (played.closed_at) text += "; closed with request " + std::to_string(*played.closed_at);
  return text;
}

/// A node's life: it is created, written, deleted by an operator, created again, and closed.
class Play {
 public:
  explicit Play(const Case& played)
      : case_{played}, plan_{std::make_shared<FaultsAt>("keeper", played.faults)} {}

  std::string run() {
    prepare();
    node_.emplace(*client_, path, "d", case_.options);
    if (!case_.closed_at) live();
    close();
    judge();
    return std::move(violation_);
  }
  [[nodiscard]] std::size_t steps() const { return plan_->steps(); }

 private:
  void complain(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }
  void expect(const std::string& what, const std::function<bool()>& condition) {
    if (violation_.empty() && !world_.run_until(condition)) complain("not " + what);
  }

  void prepare() {
    client_ = world_.client_that_counts_strays("keeper");
    world_.make(parent);
    if (case_.is_taken) {
      other_ = world_.client("other");
      const auto made = tests::run<Created>(world_, [&](auto done) {
        other_->async_create(path, "theirs", {.mode = CreateMode::ephemeral}, done);
      });
      if (made.error()) complain("no node of the other's");
    }
    plan_->submitted = [this](std::size_t step) {
      if (case_.closed_at == step) asio::post(world_.context, [this] { begin_close(); });
    };
    world_.ensemble.set_fault_plan(plan_);
  }

  [[nodiscard]] std::string data() {
    const std::string at = node_->path();
    if (at.empty()) return "-";
    const Reply reply = world_.ensemble.operate(request::Get{at});
    return reply.error ? "-" : reply.data;
  }
  /// Whether the keeper sees the node, and the next change of it.
  [[nodiscard]] bool rests_with(const std::string& wanted) {
    return node_->state() == State::present && data() == wanted && world_.ensemble.watches() > 0;
  }

  void live() {
    expect("present", [this] { return rests_with("d"); });
    Outcome<> written;
    node_->async_set_data("e", {.deadline = Deadline::never()}, written.handler());
    expect("written", [&] { return written.arrived(); });
    if (written.arrived() && written.error()) complain("set_data: " + written.error().message());
    expect("resting", [this] { return rests_with("e"); });
    if (!violation_.empty()) return;
    world_.ensemble.remove_tree(node_->path());
    expect("created again", [this] { return rests_with("e"); });
  }

  void begin_close() { node_->async_close(Deadline::never(), closed_.handler()); }
  void close() {
    if (!case_.closed_at) begin_close();
    // A play that ends before this request is not closed by it.
    if (case_.closed_at) {
      expect("at rest, or closed", [this] { return closed_.arrived() || rests_with("d"); });
      if (!closed_.arrived()) begin_close();
    }
    expect("closed", [this] { return closed_.arrived(); });
  }

  void judge() {
    if (!closed_.arrived()) return;
    if (closed_.error() || !closed_.result()) complain("close: " + closed_.error().message());
    if (!world_.run_until_idle(*client_)) complain("requests or watches are left");
    if (world_.ensemble.watches() != 0) complain("a watch is left on the server");
    // A create of a numbered node that was given up is cleaned up in the background.
    expect("gone", [this] { return is_clean(); });
    if (world_.strays > 0) complain("a create is taken for a late one");
    node_.reset();
    if (!world_.end(client_)) complain("something keeps the client alive");
  }

  /// Whether no node is left but the other's: the path may not have been taken over yet.
  [[nodiscard]] bool is_clean() {
    return std::ranges::all_of(world_.ensemble.children(parent), [this](const auto& name) {
      const Reply left = world_.ensemble.operate(request::Get{std::string{parent} + "/" + name});
      return left.data == "theirs";
    });
  }

  const Case& case_;
  const std::shared_ptr<FaultsAt> plan_;
  World world_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Client> other_;
  std::optional<PersistentNode> node_;
  Outcome<bool> closed_;
  std::string violation_;
};

/// Plays cases, counts them, and stops when too many go wrong.
class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const Case& played) {
    Play one{played};
    add(one.run(), [&] { return describe(played); });
    return one.steps();
  }
};

std::vector<Case> all_kinds() {
  return {
      {.options = {}},
      {.options = {.protection = Protection::by_unique_name}},
      {.options = {.mode = CreateMode::ephemeral_sequential}},
      {.options = {.mode = CreateMode::persistent}},
      {.options = {.mode = CreateMode::persistent, .protection = Protection::by_unique_name}},
      {.options = {.mode = CreateMode::persistent_sequential}},
      {.options = {.mode = CreateMode::persistent_with_ttl, .ttl = std::chrono::hours{1}}},
      {.options = {.foreign_node = ForeignNode::is_taken_over}, .is_taken = true},
  };
}

TEST_CASE("persistent node: it survives every fault", "[nodes]") {
  Tally tally{"one fault"};
  for (Case each : all_kinds()) {
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : sampled(all_faults())) {
        each.faults = {{at, fault}};
        tally.play(each);
      }
    }
  }
}

TEST_CASE("persistent node: it survives every pair of faults", "[nodes]") {
  Tally tally{"two faults"};
  Sample sample;
  for (Case each : all_kinds()) {
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : all_faults()) {
        each.faults = {{at, fault}};
        for (const Fault& another : all_faults()) {
          if (!sample.takes_next()) continue;
          each.faults = {{at, fault}, {at + 1, another}};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("persistent node: one that is closed at any request leaves nothing, with every fault",
          "[nodes]") {
  Tally tally{"closed at a request, with a fault at it or the next one"};
  for (Case each : all_kinds()) {
    for (std::size_t at = 0; at < 5; ++at) {
      each.closed_at = at;
      each.faults.clear();
      tally.play(each);
      for (const Fault& fault : sampled(all_faults())) {
        for (const std::size_t where : {at, at + 1}) {
          each.faults = {{where, fault}};
          tally.play(each);
        }
      }
    }
  }
}

}  // namespace
}  // namespace custodian::tests::persistent_node_faults_test
