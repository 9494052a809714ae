#include "scripted/refusal_play.hpp"

#include <algorithm>

#include "custodian/authoring/path.hpp"
#include "scripted/plays.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

namespace {

void add_tree(const testing::FakeEnsemble& ensemble, const std::string& path,
              std::vector<std::string>& paths) {
  paths.push_back(path);
  for (const std::string& name : ensemble.children(path)) {
    add_tree(ensemble, join(path, name), paths);
  }
}

}  // namespace

// -- Refusals -------------------------------------------------------------------------------------

Fault Refusals::on_submit(const Submission& submission) {
  permit_all();
  if (!counts_ || submission.client != "observed") return {};
  const std::size_t number = requests_.size();
  requests_.push_back(submission.kind);
  if (turns_to_end_) return {};
  const bool due = extent_ == Extent::one ? number == at_ : number >= at_;
  if (!due) return {};
  // A transaction names several nodes, so all of them are refused, until its reply.
  add_tree(ensemble_, "/", refused_);
  for (const std::string& path : refused_) ensemble_.refuse(path);
  return {};
}

bool Refusals::ends_now() {
  if (!turns_to_end_ || goes_on_ || requests_.size() <= at_) return false;
  return (*turns_to_end_)-- == 0;
}

void Refusals::permit_all() {
  for (const std::string& path : std::exchange(refused_, {})) ensemble_.permit(path);
}

void Refusals::stop() {
  permit_all();
  counts_ = false;
}

// -- The scene ------------------------------------------------------------------------------------

void OrderScene::begin() {
  if (refusals_) world.ensemble.set_fault_plan(refusals_);
}

bool OrderScene::wait_until(const std::function<bool()>& condition) {
  bool too_many = false;
  bool ends = false;
  const bool reached = world.run_until([&] {
    too_many = refusals_ && refusals_->requests().size() > most_requests_;
    ends = refusals_ && refusals_->ends_now();
    return too_many || ends || condition();
  });
  if (ends) throw OrderEnded{};
  if (too_many) complain("requests are sent without end");
  return reached && !too_many;
}

void OrderScene::note(error_code error) {
  if (!error_) error_ = error;
}

void OrderScene::complain(const std::string& what) {
  if (violation_.empty()) violation_ = what;
}

// -- One play -------------------------------------------------------------------------------------

/// A reply arrives after three turns, and is processed some turns later.
constexpr int most_turns = 8;

struct RefusalVerdict {
  std::string violation{};  ///< empty if all is well
  std::vector<std::string> requests{};
  error_code error{};      ///< how the order failed
  bool has_ended = false;  ///< whether the order was ended in its midst
  bool goes_on = false;    ///< whether it cannot be
};

class RefusalPlay {
 public:
  explicit RefusalPlay(const Order& order) : order_{order} {}

  /// Plays without a refusal, or with refusals from this request on.
  RefusalVerdict refuse(std::optional<std::size_t> at, Refusals::Extent extent) {
    return run(at ? std::make_shared<Refusals>(world_.ensemble, *at, extent)
                  : std::make_shared<Refusals>(world_.ensemble));
  }
  /// Plays without a refusal, and ends the order.
  RefusalVerdict end(std::size_t at, int turns) {
    const auto refusals = std::make_shared<Refusals>(world_.ensemble, at, Refusals::Extent::one);
    refusals->end_the_order(turns);
    return run(refusals);
  }

 private:
  /// An order has a dozen requests; an order that repeats them without end has more than this.
  static constexpr std::size_t most_requests = 200;

  void complain(const std::string& what) {
    if (violation_.empty()) violation_ = what;
  }

  RefusalVerdict run(const std::shared_ptr<Refusals>& refusals) {
    const bool has_ended = carry_out("observed", refusals);
    const error_code error = std::exchange(error_, {});
    if (error && error != ServerErrc::no_auth) complain("it fails: " + error.message());
    const auto requests = refusals->requests();
    carry_out("next", nullptr);
    if (error_) complain("the next client fails: " + error_.message());
    return {std::move(violation_), requests, error, has_ended, refusals->goes_on()};
  }

  /// Returns whether the order was ended.
  bool carry_out(const std::string& name, const std::shared_ptr<Refusals>& refusals) {
    auto client = world_.client(name);
    const std::int64_t session = client->session().id;
    OrderScene scene{world_, *client, refusals, most_requests};
    bool has_ended = false;
    try {
      order_(scene);
    } catch (const OrderEnded&) {
      has_ended = true;
    }
    if (!has_ended && !world_.run_until_idle(*client))
      scene.complain("requests or watches are left in it");
    if (refusals) refusals->stop();
    if (!world_.end(client)) scene.complain("something keeps it alive");
    if (std::ranges::count(world_.ensemble.sessions(), session) != 0) {
      scene.complain("its session is left");
    }
    world_.ensemble.set_fault_plan(nullptr);
    if (!scene.violation_.empty()) complain(name + ": " + scene.violation_);
    // The operations that were under way when the order ended have ended with its client.
    error_ = has_ended ? error_code{} : scene.error_;
    return has_ended;
  }

  const Order& order_;
  World world_;
  error_code error_;
  std::string violation_;
};

void play_every_refusal(std::string_view expected, const Order& order, LastingRefusal lasting) {
  Plays plays{Catch::getResultCapture().getCurrentTestName()};
  const auto refuse = [&](std::optional<std::size_t> at, Refusals::Extent extent) {
    RefusalVerdict verdict = RefusalPlay{order}.refuse(at, extent);
    plays.add(verdict.violation, [&] {
      if (!at) return std::string{"undisturbed"};
      const bool one = extent == Refusals::Extent::one;
      return "refused: request " + std::to_string(*at) + (one ? "" : " and all after it");
    });
    return verdict;
  };
  const RefusalVerdict undisturbed = refuse({}, Refusals::Extent::one);
  REQUIRE_FALSE(undisturbed.error);
  std::string found;
  bool is_ended = false;
  for (std::size_t at = 0; at < undisturbed.requests.size(); ++at) {
    const bool one_fails = static_cast<bool>(refuse(at, Refusals::Extent::one).error);
    const bool all_fail =
        lasting == LastingRefusal::is_played && refuse(at, Refusals::Extent::all_from_there).error;
    if (!found.empty()) found += ' ';
    found += undisturbed.requests[at] + (one_fails ? "!" : all_fail ? "~" : "");
    for (int turns = 0; turns < most_turns; ++turns) {
      const RefusalVerdict verdict = RefusalPlay{order}.end(at, turns);
      is_ended |= verdict.has_ended;
      plays.add(verdict.violation, [&] {
        return "ended: " + std::to_string(turns) + " turns after request " + std::to_string(at);
      });
    }
  }
  CHECK(found == expected);
  // An order that never waits through its scene could not be ended early.
  CHECK((is_ended || undisturbed.goes_on));
}

}  // namespace custodian::tests
