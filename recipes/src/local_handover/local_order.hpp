#pragma once

/// \file
/// The local order decides which contenders in a line of one client may go on, and which is next
/// when one of them leaves.
///
/// A member stands right behind another one if no contender of any client is between the two. New
/// contenders come only at the end of the queue, so this stays true. The exception is the reader of
/// a downgrade, which comes right behind its writer: see join_beside(). A member that leaves passes
/// its place to the member right behind it, without an answer from the servers.
///
/// Pure: members in, grants out. Members must not move in memory while they are in line.

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
  /// Whether the member's acquire may go on.
  bool granted = false;
  /// Whether this is a downgrade's reader, granted while the same caller's writer is still in
  /// front. Readers behind it are not granted yet.
  bool beside = false;
  /// The member right in front; null if no member of the line is known to be there.
  LocalEntry* ahead = nullptr;
  /// The members right behind. There is more than one only if an operator has deleted the node of
  /// one of them, and its contender has not noticed that yet.
  std::vector<LocalEntry*> behind;
};

/// What a member's departure means for the other members.
struct Departure {
  /// The member that takes the place of the leaving one, and has no member of the line in front.
  /// The servers must be asked whether its node exists. Null if there is no such member.
  LocalEntry* successor = nullptr;
  /// Members that may go on from now on, in order.
  std::vector<LocalEntry*> granted;
  /// Members that do not know their predecessor any more.
  std::vector<LocalEntry*> look_again;
};

/// Moves the member right behind `ahead`. Returns the members that may go on now: readers, if
/// `ahead` reads. If `ahead` is a downgrade's reader whose writer was lost, the member stands
/// apart.
[[nodiscard]] std::vector<LocalEntry*> stand_behind(LocalEntry& member, LocalEntry& ahead);
/// Takes the member from its place: no member of the line is known to be its predecessor.
void stand_apart(LocalEntry& member);
/// Lets the member go on, because no contender in front excludes it. Returns all members that may
/// go on now: this one, and if it is a reader, the readers in a row behind it.
[[nodiscard]] std::vector<LocalEntry*> grant(LocalEntry& member);
/// Adds the reader of a downgrade right behind its caller's writer, in front of all others.
/// `writer` is null if it was lost meanwhile.
void join_beside(LocalEntry& reader, LocalEntry* writer);
/// Removes a member. With `in_order` its node exists, and is deleted only while the successor's
/// node exists, or after the successor's owner was notified of its loss. So the successor gets the
/// place at once. Without `in_order` no member gets the place: the leaving node may be gone
/// already, or stay for a while.
///
/// A writer behind a reader does not get the place either, and looks again: an operator may have
/// deleted the writer's node, and the reader's node in front of it keeps no readers out.
[[nodiscard]] Departure leave(LocalEntry& member, bool in_order);

}  // namespace custodian::recipes_detail
