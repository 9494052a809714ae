#pragma once

/// \file
/// Who is next among those of one process who pass a lock on to each other (HandOff::cohort).
///
/// They have few nodes: the one that holds the lock, which passes from one to the next, and some in
/// line, one for each who waits, up to `most_in_line`. So nobody's luck depends on the present
/// holder; and by the time its passes are used up the next node is there: many pass faster than a
/// server answers. Those in line are given up when nobody needs them: the last who waited gave up,
/// or the lock is let go of and nobody waits.
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
  using Id = std::uint64_t;  ///< of one who waits; in the order in which they came

  /// What is to be done about the nodes in line.
  enum class Line : std::uint8_t {
    as_it_is,
    stand,  ///< there are too few: one more is to be created
    leave,  ///< nobody needs any
  };
  struct Entry {
    Id id = 0;
    Line line = Line::as_it_is;
  };
  struct Exit {
    bool waited = false;  ///< and waits no more
    Line line = Line::as_it_is;
  };
  struct Next {
    std::optional<Id> holder;  ///< who has the node now; nobody: it is to be let go of
    Line line = Line::as_it_is;
  };
  /// Of a node that has come to be first; they are numbered.
  using Tenure = std::uint64_t;
  struct Failure {
    std::vector<Id> failed;  ///< who wait no more
    Line line = Line::as_it_is;
  };
  /// How it ended with a node that was in line, and has not come to be first. One that was told to
  /// leave has left, whatever else became of it: nobody who came later is told of that.
  enum class Ending : std::uint8_t {
    left,            ///< as it was told to
    failed_for_one,  ///< who is first among them, if there are not enough others in line
    failed_for_all,  ///< and so would the others in line: they are to leave
  };

  explicit CohortOrder(int max_local_handoffs) noexcept : max_local_handoffs_{max_local_handoffs} {}

  /// Somebody comes, and waits.
  [[nodiscard]] Entry enter();
  /// Somebody gives up.
  [[nodiscard]] Exit leave(Id id);
  /// A node in line has come to be first; tenure() is its from now on, if somebody has it.
  [[nodiscard]] Next on_first();
  /// The holder of that one has let go; `sound`: of a node that the next one may have. A node that
  /// was lost may have been followed by another before its holder lets go.
  [[nodiscard]] Next on_done(Tenure tenure, bool sound);
  [[nodiscard]] Failure on_ending(Ending ending);

  [[nodiscard]] Tenure tenure() const noexcept { return tenure_; }
  /// Whether one of them holds the lock, as far as is known here.
  [[nodiscard]] bool held() const noexcept { return held_; }

 private:
  /// Sees to it that enough are in line, and none if nobody needs them.
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
