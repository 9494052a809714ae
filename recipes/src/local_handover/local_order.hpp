#pragma once

/// \file
/// Who may go on in a line of one client's own contenders, and who is next when one of them leaves.
///
/// A member stands right behind another one if nobody of any client is between the two. Contenders
/// come only behind, so that stays true, but for the reader of a downgrade, which comes right
/// behind its writer: see join_beside(). Whoever leaves passes on what it has to the one right
/// behind, without a word from the servers.
///
/// Pure: members in, who goes on out. Members stay where they are in memory while they are in line.

#include <vector>

#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

/// One member of a line.
struct LocalEntry {
  explicit LocalEntry(ContenderKind of_kind) noexcept : kind{of_kind} {}
  LocalEntry(const LocalEntry&) = delete;
  LocalEntry& operator=(const LocalEntry&) = delete;
  ~LocalEntry() = default;

  const ContenderKind kind;
  /// Its caller may go on.
  bool granted = false;
  /// Granted while the same caller's exclusive lock is in front: not to be passed on yet.
  bool beside = false;
  /// Right in front; null if nobody of the line is known to be there.
  LocalEntry* ahead = nullptr;
  /// Right behind. More than one only if an operator has deleted the node of one of them, which
  /// does not know yet.
  std::vector<LocalEntry*> behind;
};

/// What the end of a member's stay means for others.
struct Departure {
  /// Stands now where nobody of the line shields it: the servers must be asked whether it is there.
  /// Null if there is no such member.
  LocalEntry* successor = nullptr;
  /// May go on from now on, in order.
  std::vector<LocalEntry*> granted;
  /// Do not know any more who is in front of them.
  std::vector<LocalEntry*> look_again;
};

/// Nobody is between the two; whoever was in front of it before is not any more. Gives those who
/// may go on: a reader behind one who reads. Stands apart behind a reader whose writer is lost.
[[nodiscard]] std::vector<LocalEntry*> stand_behind(LocalEntry& member, LocalEntry& ahead);
/// Whoever is in front of it is not one of the line.
void stand_apart(LocalEntry& member);
/// A listing shows that it may go on. Gives those who may go on with it.
[[nodiscard]] std::vector<LocalEntry*> grant(LocalEntry& member);
/// A reader that has come right behind its own caller's writer, and in front of all others. Null:
/// the writer has been lost meanwhile.
void join_beside(LocalEntry& reader, LocalEntry* writer);
/// In order: its caller is done, and its node is there, and will be deleted only when that of the
/// heir has been seen. Otherwise nobody gets what it had: the node may be gone, or stay for a
/// while.
///
/// A writer behind a reader gets nothing either, and looks again. Its node may have been deleted by
/// hand, and a reader's node in front of it shields it from nobody who reads.
[[nodiscard]] Departure leave(LocalEntry& member, bool in_order);

}  // namespace custodian::recipes_detail
