// ShareOrder through long random sequences of events.

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "kept/share_order.hpp"
#include "support/catch.hpp"

namespace custodian::recipes_detail::share_order_property_test {
namespace {

using Node = ShareOrder::Node;
using Reader = ShareOrder::Reader;

constexpr std::int64_t most_readers = 3;

/// The servers and the readers around one ShareOrder. Carries out the decisions, and checks them.
class Game {
 public:
  explicit Game(unsigned seed) : random_{seed} {}

  void play(int steps) {
    for (int i = 0; i < steps && violation.empty(); ++i) step();
    // In the end all requests are answered, and no reader waits for ever.
    for (int i = 0; i < 400 && violation.empty() && !(waiting_.empty() && nodes_.empty()); ++i) {
      calm_ = true;
      step();
    }
    expect(waiting_.empty(), "a reader waits for ever");
    expect(nodes_.empty(), "a node is left");
  }

  std::string violation;

 private:
  enum class Phase { sent, queued, held };
  struct Place {
    Phase phase = Phase::sent;
    Sequence number = 0;
    std::size_t holders = 0;
    std::int64_t served = 1;
    bool leaving = false;
    bool is_new = true;         ///< it has not held the lock until now
    bool may_be_joined = true;  ///< no writer has come behind it, as far as was reported
  };

  void expect(bool holds, const std::string& what) {
    if (!holds && violation.empty()) violation = what;
  }
  std::size_t below(std::size_t end) { return random_() % end; }

  void follow(const ShareOrder::Next& next) {
    for (const Reader each : next.hold) {
      expect(waiting_.erase(each) == 1, "a reader has the lock twice");
      Place& place = nodes_.at(next.held);
      expect(place.is_new || place.may_be_joined, "a waiter joins in front of a writer");
      ++place.holders;
    }
    for (const Node each : next.end) {
      const auto found = nodes_.find(each);
      if (found == nodes_.end()) {
        expect(false, "a node ends twice");
        continue;
      }
      if (found->second.phase == Phase::held) {
        expect(found->second.holders == 0, "a node is deleted under its reader");
        nodes_.erase(found);
      } else {
        found->second.leaving = true;
      }
    }
    if (next.list) ask();
    if (!next.create) return;
    expect(nodes_.try_emplace(*next.create).second, "a node is created twice");
    ask();
    order_.on_sent(*next.create);
    order_.on_asked();
  }
  void ask() {
    asked_ = true;
    writer_listed_ = last_writer_;
  }
  void join() {
    const Node newest = order_.newest();
    if (!order_.join()) return;
    Place& place = nodes_.at(newest);
    expect(place.phase == Phase::held, "a reader joins a node that waits");
    expect(place.may_be_joined, "a reader joins in front of a writer");
    ++place.holders;
  }
  /// Any node in this phase; null if there is none.
  Place* any(Phase phase, Node& number) {
    std::vector<Node> all;
    for (const auto& [node, place] : nodes_) {
      if (place.phase == phase) all.push_back(node);
    }
    if (all.empty()) return nullptr;
    number = all[below(all.size())];
    return &nodes_.at(number);
  }

  void step() {
    const auto what = below(calm_ ? 6 : 13);
    Node number = 0;
    switch (what) {
      case 0:  // the create is answered
        if (Place* const place = any(Phase::sent, number)) {
          place->phase = Phase::queued;
          place->number = ++last_number_;
          follow(order_.on_queued(number, place->number));
        }
        break;
      case 1:
      case 2:  // the oldest node that waits is granted the lock, or has left
        if (Place* const place = any(Phase::queued, number)) end_wait(number, *place);
        break;
      case 3:
        if (Place* const place = any(Phase::held, number); place != nullptr && place->holders > 0) {
          --place->holders;
          follow(order_.on_released(number, below(8) != 0));
          // In the quiet at the end, an idle node is given back.
        } else if (place != nullptr && calm_) {
          follow(order_.retire(number));
        }
        break;
      case 4:  // the listing is answered
        if (!asked_) break;
        asked_ = false;
        if (below(8) == 0) {
          follow(order_.on_not_listed());
        } else {
          for (auto& [node, place] : nodes_) {
            if (place.phase != Phase::sent && place.number < writer_listed_) {
              place.may_be_joined = false;
            }
          }
          follow(
              order_.on_listed(writer_listed_ == 0 ? std::nullopt : std::optional{writer_listed_}));
        }
        break;
      case 5:
        if (order_.listing_helps() && !asked_) {
          ask();
          order_.on_asked();
        }
        break;
      case 6:
      case 7: {
        const auto entry = order_.enter();
        waiting_.insert(entry.reader);
        follow(entry.next);
        break;
      }
      case 8: join(); break;
      case 9:
        if (!waiting_.empty()) {
          const Reader reader =
              *std::next(waiting_.begin(), static_cast<std::ptrdiff_t>(below(waiting_.size())));
          const auto exit = order_.leave(reader);
          expect(exit.waited, "a waiter is not known");
          waiting_.erase(reader);
          follow(exit.next);
        }
        break;
      case 10:  // a writer elsewhere is reported
        last_writer_ = ++last_number_;
        for (auto& [node, place] : nodes_) place.may_be_joined = place.phase == Phase::sent;
        // A listing that is answered after the event shows what has caused the event.
        writer_listed_ = last_writer_;
        order_.on_changed();
        break;
      case 11:  // a writer of the client
        last_writer_ = ++last_number_;
        // A create that is under way is mostly applied before the writer's create.
        for (auto& [node, place] : nodes_) place.may_be_joined = place.phase == Phase::sent;
        follow(order_.on_own_writer());
        break;
      case 12:
        if (Place* const place = any(Phase::held, number)) {
          place->may_be_joined = false;
          follow(order_.retire(number));
        }
        break;
      default: break;
    }
  }
  void end_wait(Node number, Place& place) {
    if (place.leaving || below(8) == 0) {
      nodes_.erase(number);
      const auto failure = order_.on_ended(number);
      for (const Reader each : failure.failed) {
        expect(waiting_.erase(each) == 1, "who fails does not wait");
      }
      return follow(failure.next);
    }
    place.phase = Phase::held;
    const auto next = order_.on_granted(number, below(2) == 0 && !calm_);
    expect(next.hold.size() <= most_readers, "a node serves too many");
    if (next.held != number) nodes_.erase(number);
    follow(next);
    if (next.held == number) nodes_.at(number).is_new = false;
  }

  std::minstd_rand random_;
  ShareOrder order_{most_readers};
  std::map<Node, Place> nodes_;
  std::set<Reader> waiting_;
  Sequence last_number_ = 0;
  Sequence last_writer_ = 0;
  Sequence writer_listed_ = 0;
  bool asked_ = false;
  bool calm_ = false;
};

TEST_CASE("share order: whatever happens, each reader has its turn or its answer") {
  for (unsigned seed = 1; seed <= 20'000; ++seed) {
    Game game{seed};
    game.play(60);
    INFO("seed " << seed);
    REQUIRE(game.violation == "");
  }
}

}  // namespace
}  // namespace custodian::recipes_detail::share_order_property_test
