#pragma once

/// \file
/// play_every_refusal() carries out an order, such as "acquire and release a mutex", with a lack of
/// permission at each of its requests: an ACL that a person has changed in between, or forgotten.
/// It also ends the order at each of its requests.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scripted/world.hpp"

namespace custodian::tests {

/// Refuses requests of the client "observed". As with real servers, `exists` and `sync` are never
/// refused.
class Refusals final : public testing::FaultPlan {
 public:
  enum class Extent { one, all_from_there };

  /// Refuses the request with this number, counted from 0, and perhaps all that follow it.
  Refusals(testing::FakeEnsemble& ensemble, std::size_t at, Extent extent)
      : ensemble_{ensemble}, at_{at}, extent_{extent} {}
  /// Refuses none.
  explicit Refusals(testing::FakeEnsemble& ensemble)
      : Refusals{ensemble, std::string::npos, Extent::one} {}

  Fault on_submit(const Submission& submission) override;
  void before_reply(const Submission&, const Reply&) override { permit_all(); }

  /// From now on the order is not ended early.
  void let_it_go_on() { goes_on_ = true; }
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  /// Ends the order `turns` turns of the executor after the request.
  void end_the_order(int turns) { turns_to_end_ = turns; }
  /// Returns whether the order ends now. Called at each turn.
  [[nodiscard]] bool ends_now();

  /// Permits everything again, and counts no more.
  void stop();
  /// The kinds of the requests so far.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }

 private:
  void permit_all();

  testing::FakeEnsemble& ensemble_;
  const std::size_t at_;
  const Extent extent_;
  bool counts_ = true;
  std::optional<int> turns_to_end_;
  bool goes_on_ = false;
  std::vector<std::string> requests_;
  std::vector<std::string> refused_;  // paths
};

/// Thrown in the middle of an order, which thereby destroys all its recipes.
struct OrderEnded {};

/// The setting of an order. First the client "observed" carries it out, which may not do
/// everything, and then the client "next", which may.
class OrderScene {
 public:
  World& world;
  Client& client;

  /// From now on the order is not ended early, since it must join a thread of its own.
  void let_it_go_on() {
    if (refusals_) refusals_->let_it_go_on();
  }
  /// Ends the preparation of the order: only requests from now on are refused.
  void begin();
  /// Runs an operation to its end: `run<Lease>([&](auto done) {...})`. An error fails the order.
  template <typename... Results, typename Start>
  Outcome<Results...> run(Start start) {
    Outcome<Results...> outcome;
    start(outcome.handler());
    if (!wait_until([&] { return outcome.arrived(); })) {
      complain("an operation does not end");
      // The order reads the outcome, so it needs one.
      outcome.handler()(make_error_code(Errc::deadline_exceeded), Results{}...);
    }
    note(outcome.error());
    return outcome;
  }
  /// Runs until the condition is true. Returns false if that takes too long, or too many requests.
  /// Throws OrderEnded.
  bool wait_until(const std::function<bool()>& condition);
  /// An error fails the order; the first one counts.
  void note(error_code error);
  void complain(const std::string& what);
  [[nodiscard]] bool failed() const { return static_cast<bool>(error_); }

 private:
  friend class RefusalPlay;
  OrderScene(World& its_world, Client& its_client, std::shared_ptr<Refusals> refusals,
             std::size_t most_requests)
      : world{its_world},
        client{its_client},
        refusals_{std::move(refusals)},
        most_requests_{most_requests} {}

  const std::shared_ptr<Refusals> refusals_;  // null: nothing is refused
  const std::size_t most_requests_;
  error_code error_;
  std::string violation_;
};

/// What a client does, from the construction of its recipes to their end.
using Order = std::function<void(OrderScene&)>;

/// Whether an order is also carried out with lasting refusals: from one request on, all are
/// refused. An operation that a client repeats until it succeeds would then never end.
enum class LastingRefusal { is_played, is_left_out };

/// Carries out the order without a refusal, and then with one at each of its requests, each time in
/// a world of its own. `expected` lists the requests of the undisturbed order by their kinds, in
/// their order, each with a mark:
///
/// - `create!`: the refusal of this request makes the order fail.
/// - `create~`: only a lasting refusal, of this request and all later ones, makes the order fail.
/// - `create`: the order succeeds, even then (or lasting refusals are left out).
///
/// The order is then carried out without a refusal, and ended while a request is under way, when
/// its reply is there, and some turns later: its recipes are destroyed, and then the client.
///
/// In every case each operation of the order ends, with no other error than `no_auth`, the client
/// has neither requests nor watches left, its session ends with it, and the next client can carry
/// out the order.
void play_every_refusal(std::string_view expected, const Order& order,
                        LastingRefusal lasting = LastingRefusal::is_played);

}  // namespace custodian::tests
