#include "local_handover/local_order.hpp"

#include <utility>

namespace custodian::recipes_detail {

namespace {

/// Whether a reader may go on because `ahead`, right in front of it, reads. The reader of a
/// downgrade lets no other reader in before its writer has left.
bool shares_with(const LocalEntry& ahead, const LocalEntry& member) {
  return ahead.granted && !ahead.beside && ahead.kind == ContenderKind::shared &&
         member.kind == ContenderKind::shared;
}

/// Grants the member and, if it reads, all readers in a row behind it. Appends the new grants to
/// `granted`.
void let_go_on(LocalEntry& member, std::vector<LocalEntry*>& granted) {
  std::vector<LocalEntry*> going_on{&member};
  for (std::size_t i = 0; i < going_on.size(); ++i) {
    LocalEntry& each = *going_on[i];
    each.beside = false;
    if (!std::exchange(each.granted, true)) granted.push_back(&each);
    for (LocalEntry* next : each.behind) {
      if ((!next->granted || next->beside) && shares_with(each, *next)) going_on.push_back(next);
    }
  }
}

/// Takes the waiting members behind this one out of their places: they must look for their
/// predecessors.
void send_away(LocalEntry& member, std::vector<LocalEntry*>& away) {
  for (LocalEntry* next : std::vector{member.behind}) {
    if (next->granted) continue;
    stand_apart(*next);
    away.push_back(next);
  }
}

}  // namespace

void stand_apart(LocalEntry& member) {
  if (LocalEntry* const ahead = std::exchange(member.ahead, nullptr)) {
    std::erase(ahead->behind, &member);
  }
}

std::vector<LocalEntry*> stand_behind(LocalEntry& member, LocalEntry& ahead) {
  stand_apart(member);
  // `ahead` is a downgrade's reader whose writer was lost. The member cannot rely on it, for
  // nothing here notices the end of the writer's node.
  if (ahead.beside && ahead.ahead == nullptr) return {};
  member.ahead = &ahead;
  ahead.behind.push_back(&member);
  std::vector<LocalEntry*> granted;
  if (!member.granted && shares_with(ahead, member)) let_go_on(member, granted);
  return granted;
}

std::vector<LocalEntry*> grant(LocalEntry& member) {
  std::vector<LocalEntry*> granted;
  let_go_on(member, granted);
  return granted;
}

void join_beside(LocalEntry& reader, LocalEntry* writer) {
  reader.granted = true;
  reader.beside = true;
  if (writer == nullptr) return;
  // All members behind the writer are behind the reader from now on.
  reader.behind = std::exchange(writer->behind, {&reader});
  reader.ahead = writer;
  for (LocalEntry* next : reader.behind) next->ahead = &reader;
}

Departure leave(LocalEntry& member, bool in_order) {
  LocalEntry* const ahead = member.ahead;
  stand_apart(member);
  // A reader passes nothing on to a writer: see local_order.hpp.
  const bool passes_on = in_order && member.granted && member.kind == ContenderKind::exclusive;
  Departure departure;
  for (LocalEntry* next : std::exchange(member.behind, {})) {
    next->ahead = nullptr;
    if (in_order && ahead != nullptr) {
      // No contender is between `next` and `ahead` either, so `next` moves up behind `ahead`.
      for (LocalEntry* each : stand_behind(*next, *ahead)) departure.granted.push_back(each);
    } else if (passes_on && departure.successor == nullptr) {
      departure.successor = next;
      let_go_on(*next, departure.granted);
    } else if (next->granted) {
      if (departure.successor == nullptr) departure.successor = next;
      if (next->beside) send_away(*next, departure.look_again);
    } else {
      departure.look_again.push_back(next);
    }
  }
  return departure;
}

}  // namespace custodian::recipes_detail
