#pragma once

/// \file
/// CohortOrder decides which waiter of a cohort is next (HandOff::cohort).
///
/// A cohort has few nodes: the one that holds the lock, which passes from one holder to the next,
/// and the stand-ins in the queue, one for each waiter, up to `most_in_line`. So no waiter depends
/// on the present holder alone. The stand-ins are created early because passes are faster than a
/// server's answer: when the passes are used up, the next node is already in the queue. The
/// stand-ins leave when none is needed: when the last waiter gives up, or when the lock is released
/// and there are no waiters.
///
/// Pure: events in, decisions out.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace custodian::recipes_detail {

class CohortOrder {
 public:
  static constexpr int most_in_line = 4;
  using Id = std::uint64_t;  ///< of a waiter; in the order of arrival

  /// What must be done about the stand-ins.
  enum class Line : std::uint8_t {
    as_it_is,
    stand,  ///< there are too few: create one more
    leave,  ///< none is needed: all must leave the queue
  };
  struct Entry {
    Id id = 0;
    Line line = Line::as_it_is;
  };
  struct Exit {
    bool waited = false;  ///< it was a waiter until now
    Line line = Line::as_it_is;
  };
  struct Next {
    std::optional<Id> holder;  ///< the next owner of the node; none: the node must be released
    Line line = Line::as_it_is;
  };
  /// Numbers the nodes that were granted the lock, in the order of their grants.
  using Tenure = std::uint64_t;
  struct Failure {
    std::vector<Id> failed;  ///< the waiters that end with the error
    Line line = Line::as_it_is;
  };
  /// How a stand-in ended without the lock. One that was asked to leave counts as `left`, in every
  /// case: later waiters must not get its error.
  enum class Ending : std::uint8_t {
    left,            ///< it was asked to leave, or was cancelled
    failed_for_one,  ///< fails the oldest waiter, if fewer stand-ins than waiters remain
    failed_for_all,  ///< fails all waiters; the other stand-ins would fail as well, and must leave
  };

  explicit CohortOrder(int max_local_handoffs) noexcept : max_local_handoffs_{max_local_handoffs} {}

  /// A waiter arrives.
  [[nodiscard]] Entry enter();
  /// A waiter gives up.
  [[nodiscard]] Exit leave(Id id);
  /// A stand-in was granted the lock. If a waiter takes it, a new tenure begins: see tenure().
  [[nodiscard]] Next on_first();
  /// The holder of that tenure has released; `sound`: its node may be passed on. After a loss a
  /// newer tenure may have begun before its holder releases.
  [[nodiscard]] Next on_done(Tenure tenure, bool sound);
  /// A stand-in has ended without the lock.
  [[nodiscard]] Failure on_ending(Ending ending);

  [[nodiscard]] Tenure tenure() const noexcept { return tenure_; }
  /// Whether a member holds the lock, as far as is known here.
  [[nodiscard]] bool held() const noexcept { return held_; }

 private:
  /// Decides whether one more stand-in must enter the queue, or all must leave it.
  [[nodiscard]] Line set_line();
  [[nodiscard]] Id take_first();

  int max_local_handoffs_;
  std::set<Id> waiting_;
  Id last_ = 0;
  Tenure tenure_ = 0;
  bool held_ = false;
  int in_line_ = 0;  ///< stand-ins in the queue, or on their way into or out of it
  int passes_left_ = 0;
};

}  // namespace custodian::recipes_detail
