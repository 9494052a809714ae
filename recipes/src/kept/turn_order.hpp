#pragma once

/// \file
/// TurnOrder decides which of a client's callers is next under a lock, and what becomes of the
/// lock's node when its holder releases it: the node passes to the next caller, stays without a
/// holder (*idle*), or is deleted.
///
/// There are few nodes: the one that holds the lock, and the *stand-ins* in the queue, one for each
/// waiter, up to `most_in_line`. So no waiter depends on the present holder alone. The stand-ins
/// are created early because passes are faster than a server's answer: when the passes are used up,
/// the next node is already in the queue. The stand-ins leave when none is needed: when the last
/// waiter gives up, or when the lock is released and there are no waiters.
///
/// If a watched listing has shown that no other contender is in the queue, and its watch has not
/// fired, the client is *alone*. Then the node passes to waiters without a limit, no stand-in is
/// needed, and a node without waiters may stay, idle.
///
/// Pure: events in, decisions out.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace custodian::recipes_detail {

/// What a lock's callers agree on.
struct TurnRules {
  /// How often a node passes on while others may want the lock.
  int max_local_handoffs = 0;
  /// How many stand-ins there are at most.
  std::size_t most_in_line = 4;
};

class TurnOrder {
 public:
  using Id = std::uint64_t;  ///< of a waiter; in the order of arrival

  /// What must be done about the stand-ins.
  struct Line {
    std::size_t stand = 0;  ///< there are too few stand-ins: create so many more
    bool leave = false;     ///< no stand-in is needed: all must leave the queue
    friend bool operator==(const Line&, const Line&) = default;
  };
  struct Entry {
    Id id = 0;
    Line line{};
  };
  struct Exit {
    bool waited = false;  ///< it was a waiter until now
    Line line{};
  };
  /// What becomes of a node whose holder has released it.
  enum class Fate : std::uint8_t {
    release,  ///< delete it
    pass,     ///< to `Next::holder`
    idle,     ///< keep it without a holder
    wait,     ///< until the listing is answered: see on_listed()
  };
  struct Next {
    Fate fate = Fate::release;
    std::optional<Id> holder{};  ///< the next owner of the node
    Line line{};
  };
  /// Numbers the nodes that were granted the lock, in the order of their grants.
  using Tenure = std::uint64_t;
  struct Failure {
    std::vector<Id> failed{};  ///< the waiters that end with the error
    Line line{};
  };
  /// How a stand-in ended without the lock. A stand-in that was asked to leave counts as `left`
  /// whatever its error is: later waiters must not get that error.
  enum class Ending : std::uint8_t {
    left,            ///< it was asked to leave, or was cancelled
    failed_for_one,  ///< fails the oldest waiter, if fewer stand-ins than waiters remain
    failed_for_all,  ///< fails all waiters; the other stand-ins would fail as well, and must leave
  };

  explicit TurnOrder(TurnRules rules) noexcept : rules_{rules} {}

  /// A waiter arrives. If there was an idle node, on_idle_gone() must have been called before.
  [[nodiscard]] Entry enter();
  /// A waiter gives up.
  [[nodiscard]] Exit leave(Id id);
  /// A stand-in was granted the lock. If a waiter takes it, a new tenure begins: see tenure().
  /// `lists`: the queue is listed now, with a watch, or was listed with the stand-in's create.
  /// Until on_listed() no stand-in enters the queue, and a released node waits if there are
  /// waiters.
  [[nodiscard]] Next on_first(bool lists = false);
  /// The holder of that tenure has released; `sound`: its node may be passed on. After a loss a
  /// newer tenure may have begun before its holder releases.
  [[nodiscard]] Next on_done(Tenure tenure, bool sound);
  /// A stand-in has ended without the lock.
  [[nodiscard]] Failure on_ending(Ending ending);

  /// \name Is the client alone?
  /// \{

  /// Makes all stand-ins leave. A second listing is requested after their deletes: it shows whether
  /// the client's node is the only one.
  [[nodiscard]] Line dismiss_stand_ins() noexcept { return {.stand = 0, .leave = in_line_ > 0}; }
  /// The last listing was answered. `alone`: it showed no other contender. `released`: the node
  /// waits for this answer; otherwise the returned fate concerns no node. `sound`: the node may be
  /// passed on. Does nothing if the listing is out of date, because the node was released, or
  /// on_company() was called.
  [[nodiscard]] Next on_listed(bool alone, bool released, bool sound);
  /// Another contender may be in the queue: the watch has fired, or what was listed is out of date.
  /// Call on_idle_gone() instead if the node is idle.
  [[nodiscard]] Line on_company();
  [[nodiscard]] bool is_alone() const noexcept { return company_ == Company::none; }
  [[nodiscard]] bool is_asking() const noexcept { return company_ == Company::asked; }
  /// The idle node is being deleted.
  [[nodiscard]] Line on_idle_gone();
  /// \}

  [[nodiscard]] Tenure tenure() const noexcept { return tenure_; }
  /// Whether this client holds the lock, or keeps it idle, as far as is known here.
  [[nodiscard]] bool held() const noexcept { return held_; }
  [[nodiscard]] bool has_waiters() const noexcept { return !waiting_.empty(); }
  [[nodiscard]] std::size_t in_line() const noexcept { return in_line_; }

 private:
  /// Whether another contender is in the queue.
  enum class Company : std::uint8_t { unknown, asked, none };

  [[nodiscard]] Next release();
  [[nodiscard]] Next pass() { return {Fate::pass, take_first(), {}}; }
  /// Decides whether more stand-ins must enter the queue, or all must leave it.
  [[nodiscard]] Line set_line();
  [[nodiscard]] Id take_first();

  TurnRules rules_;
  std::set<Id> waiting_;
  Id last_ = 0;
  Tenure tenure_ = 0;
  bool held_ = false;
  Company company_ = Company::unknown;  ///< the company of the present tenure
  std::size_t in_line_ = 0;  ///< stand-ins in the queue, or on their way into or out of it
  int passes_left_ = 0;
};

}  // namespace custodian::recipes_detail
