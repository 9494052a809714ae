#include "fault_kind.hpp"

namespace custodian::chaos {

std::string_view to_string(FaultKind kind) noexcept {
  switch (kind) {
    case FaultKind::client_cut: return "client-cut";
    case FaultKind::client_cut_to_servers: return "client-cut-to-servers";
    case FaultKind::client_cut_from_servers: return "client-cut-from-servers";
    case FaultKind::follower_cut: return "follower-cut";
    case FaultKind::follower_cut_outgoing: return "follower-cut-outgoing";
    case FaultKind::follower_cut_incoming: return "follower-cut-incoming";
    case FaultKind::leader_cut: return "leader-cut";
    case FaultKind::leader_cut_outgoing: return "leader-cut-outgoing";
    case FaultKind::leader_cut_incoming: return "leader-cut-incoming";
    case FaultKind::connection_reset: return "connection-reset";
    case FaultKind::follower_killed: return "follower-killed";
    case FaultKind::leader_killed: return "leader-killed";
    case FaultKind::server_paused_shortly: return "server-paused-shortly";
    case FaultKind::server_paused: return "server-paused";
    case FaultKind::session_expired: return "session-expired";
    case FaultKind::holder_deleted: return "holder-deleted";
    case FaultKind::next_deleted: return "next-deleted";
    case FaultKind::waiter_deleted: return "waiter-deleted";
    case FaultKind::worker_stopped: return "worker-stopped";
    case FaultKind::worker_killed: return "worker-killed";
    case FaultKind::calm: return "calm";
  }
  return "unknown";
}

std::optional<FaultKind> parse_fault_kind(std::string_view name) noexcept {
  for (const FaultKind kind : all_fault_kinds) {
    if (to_string(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace custodian::chaos
