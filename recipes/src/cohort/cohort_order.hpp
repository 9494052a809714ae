#pragma once

/// \file
/// CohortOrder decides which waiter of a cohort is next (HandOff::cohort).
///
/// A cohort has few nodes: the one that holds the lock, which passes from one holder to the next,
/// and the stand-ins in the queue, one for each waiter, up to `most_in_line`. So no waiter depends
/// on the present holder alone; and by the time its passes are used up the next node is there:
/// passes are faster than a server's answer. The stand-ins are given up when none needs them: the
/// last waiter gave up, or the lock is released and there are no waiters.
///
/// Pure: what happened in, what is to be done out.

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
    leave,  ///< none is needed
  };
  struct Entry {
    Id id = 0;
    Line line = Line::as_it_is;
  };
  struct Exit {
    bool waited = false;  ///< and so it waits no more
    Line line = Line::as_it_is;
  };
  struct Next {
    std::optional<Id> holder;  ///< the next owner of the node; none: the node must be released
    Line line = Line::as_it_is;
  };
  /// A node that was granted the lock; tenures are numbered.
  using Tenure = std::uint64_t;
  struct Failure {
    std::vector<Id> failed;  ///< the waiters that end with the error
    Line line = Line::as_it_is;
  };
  /// How a stand-in ended without the lock. One that was asked to leave counts as `left`, in every
  /// case: later waiters must not get its error.
  enum class Ending : std::uint8_t {
    left,            ///< as it was asked to
    failed_for_one,  ///< fails the oldest waiter, if fewer stand-ins than waiters remain
    failed_for_all,  ///< fails all waiters; the other stand-ins would fail as well, and must leave
  };

  explicit CohortOrder(int max_local_handoffs) noexcept : max_local_handoffs_{max_local_handoffs} {}

  /// A waiter comes.
  [[nodiscard]] Entry enter();
  /// A waiter gives up.
  [[nodiscard]] Exit leave(Id id);
  /// A stand-in was granted the lock; if a waiter takes it, tenure() is its own from now on.
  [[nodiscard]] Next on_first();
  /// The holder of that tenure has released; `sound`: its node may be passed on. After a loss
  /// another tenure may have begun before its holder releases.
  [[nodiscard]] Next on_done(Tenure tenure, bool sound);
  [[nodiscard]] Failure on_ending(Ending ending);

  [[nodiscard]] Tenure tenure() const noexcept { return tenure_; }
  /// Whether a member holds the lock, as far as is known here.
  [[nodiscard]] bool held() const noexcept { return held_; }

 private:
  /// Decides that enough stand-ins are in the queue, and none if none is needed.
  [[nodiscard]] Line set_line();
  [[nodiscard]] Id take_first();

  int max_local_handoffs_;
  std::set<Id> waiting_;
  Id last_ = 0;
  Tenure tenure_ = 0;
  bool held_ = false;
  int in_line_ = 0;  ///< also on their way there, or out
  int passes_left_ = 0;
};

}  // namespace custodian::recipes_detail
