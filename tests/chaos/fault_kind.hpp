#pragma once

/// \file
/// FaultKind names the faults of a chaos run, as its histories do. Value types; pure.

#include <array>
#include <optional>
#include <string_view>

namespace custodian::chaos {

enum class FaultKind {
  // A holder is cut off from the servers that could confirm its lease, and cannot go elsewhere.
  client_cut,               ///< the connections to all members, both ways
  client_cut_to_servers,    ///< the servers receive nothing from the holder
  client_cut_from_servers,  ///< the holder receives nothing from the servers
  follower_cut,  ///< the holder's follower (it reaches no other member) is cut from the leader
  follower_cut_outgoing,  ///< the leader receives nothing from that follower
  follower_cut_incoming,  ///< that follower receives nothing from the leader
  leader_cut,  ///< the holder's leader (it reaches no other member) is cut from its quorum
  leader_cut_outgoing,
  leader_cut_incoming,

  // A holder's connection or its server fails, and it may go elsewhere.
  connection_reset,
  follower_killed,
  leader_killed,
  server_paused_shortly,  ///< paused for less than the session timeout
  server_paused,          ///< paused for more than the session timeout

  // A third party ends a contender's session or deletes its node.
  session_expired,  ///< another connection closes a holder's session
  holder_deleted,   ///< an operator deletes the node of a holder
  next_deleted,     ///< an operator deletes the node of the next in line
  waiter_deleted,   ///< an operator deletes the node of a waiter further back

  // A process is stopped or killed.
  worker_stopped,  ///< SIGSTOP past the session timeout, while it holds a lock
  worker_killed,   ///< SIGKILL, while it holds a lock; another worker takes its place

  calm,  ///< no fault: every loss is a false alarm
};

inline constexpr std::array all_fault_kinds{
    FaultKind::client_cut,
    FaultKind::client_cut_to_servers,
    FaultKind::client_cut_from_servers,
    FaultKind::follower_cut,
    FaultKind::follower_cut_outgoing,
    FaultKind::follower_cut_incoming,
    FaultKind::leader_cut,
    FaultKind::leader_cut_outgoing,
    FaultKind::leader_cut_incoming,
    FaultKind::connection_reset,
    FaultKind::follower_killed,
    FaultKind::leader_killed,
    FaultKind::server_paused_shortly,
    FaultKind::server_paused,
    FaultKind::session_expired,
    FaultKind::holder_deleted,
    FaultKind::next_deleted,
    FaultKind::waiter_deleted,
    FaultKind::worker_stopped,
    FaultKind::worker_killed,
    FaultKind::calm,
};

[[nodiscard]] std::string_view to_string(FaultKind kind) noexcept;
/// Returns nothing if no kind has this name.
[[nodiscard]] std::optional<FaultKind> parse_fault_kind(std::string_view name) noexcept;

/// Returns whether a holder is cut off until it loses its lock. Such a holder must be notified
/// before the next grant.
[[nodiscard]] constexpr bool cuts_holder_off(FaultKind kind) noexcept {
  return kind <= FaultKind::leader_cut_incoming;
}
/// Returns whether an acquire may end because its node was deleted.
[[nodiscard]] constexpr bool deletes_nodes(FaultKind kind) noexcept {
  return kind == FaultKind::holder_deleted || kind == FaultKind::next_deleted ||
         kind == FaultKind::waiter_deleted;
}

}  // namespace custodian::chaos
