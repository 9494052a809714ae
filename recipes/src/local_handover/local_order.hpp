#pragma once

/// \file
/// The local order decides which contenders in a line of one client may go on, and which is next
/// when one of them leaves.
///
/// A member stands right behind another one if nobody of any client is between the two. Contenders
/// come only behind, so that stays true, but for the reader of a downgrade, which comes right
/// behind its writer: see join_beside(). A member that leaves passes its place to the one right
/// behind, without an answer from the servers.
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
  /// Right in front; null if no member of the line is known to be there.
  LocalEntry* ahead = nullptr;
  /// Right behind. More than one only if an operator has deleted the node of one of them, which
  /// does not know yet.
  std::vector<LocalEntry*> behind;
};

/// What a member's departure means for the others.
struct Departure {
  /// The member that no other one of the line shields now: the servers must be asked whether its
  /// node exists. Null if there is no such member.
  LocalEntry* successor = nullptr;
  /// Members that may go on from now on, in order.
  std::vector<LocalEntry*> granted;
  /// Members that do not know their predecessor any more.
  std::vector<LocalEntry*> look_again;
};

/// Puts it right behind the other one, instead of its place before. Returns the members that may go
/// on: a reader behind one that reads. Behind a reader whose writer is lost it stands apart.
[[nodiscard]] std::vector<LocalEntry*> stand_behind(LocalEntry& member, LocalEntry& ahead);
/// Its predecessor is not a member of the line.
void stand_apart(LocalEntry& member);
/// A listing shows that it may go on. Returns the members that may go on with it.
[[nodiscard]] std::vector<LocalEntry*> grant(LocalEntry& member);
/// Adds a reader right behind its own caller's writer, and in front of all others. Null: the writer
/// was lost meanwhile.
void join_beside(LocalEntry& reader, LocalEntry* writer);
/// In order: its caller is done, and its node is there, and will be deleted only when that of the
/// heir has been seen. Otherwise no member gets its place: the node may be gone, or stay for a
/// while.
///
/// A writer behind a reader gets nothing either, and looks again. Its node may have been deleted by
/// hand, and a reader's node in front of it keeps no readers out.
[[nodiscard]] Departure leave(LocalEntry& member, bool in_order);

}  // namespace custodian::recipes_detail
