#include "faults.hpp"

#include <stdexcept>

#include "custodian/testing/server_endpoint.hpp"

namespace custodian::chaos {

void Faults::play(FaultKind kind) {
  using testing::Direction;
  using testing::PeerDirection;
  ++number_;
  switch (kind) {
    case FaultKind::client_cut: return cut_client(kind, Direction::both);
    case FaultKind::client_cut_to_servers: return cut_client(kind, Direction::to_server);
    case FaultKind::client_cut_from_servers: return cut_client(kind, Direction::to_client);
    case FaultKind::follower_cut: return cut_follower(kind, PeerDirection::both);
    case FaultKind::follower_cut_outgoing: return cut_follower(kind, PeerDirection::outgoing);
    case FaultKind::follower_cut_incoming: return cut_follower(kind, PeerDirection::incoming);
    case FaultKind::leader_cut: return cut_leader(kind, PeerDirection::both);
    case FaultKind::leader_cut_outgoing: return cut_leader(kind, PeerDirection::outgoing);
    case FaultKind::leader_cut_incoming: return cut_leader(kind, PeerDirection::incoming);
    case FaultKind::connection_reset: return reset_connection();
    case FaultKind::follower_killed:
    case FaultKind::leader_killed: return kill_server(kind);
    case FaultKind::server_paused_shortly:
    case FaultKind::server_paused: return pause_server(kind);
    case FaultKind::session_expired: return expire_session();
    case FaultKind::holder_deleted: return delete_holder();
    case FaultKind::next_deleted:
    case FaultKind::waiter_deleted: return delete_waiter(kind);
    case FaultKind::worker_stopped: return stop_worker();
    case FaultKind::worker_killed: return kill_worker();
    case FaultKind::calm: return stay_calm();
  }
}

// -- The holder is cut off ------------------------------------------------------------------------

void Faults::cut_client(FaultKind kind, testing::Direction direction) {
  const Target target = choose_target();
  // When a pulled cable is plugged in again, the bytes sent meanwhile arrive. When a router has
  // forgotten the connection, they do not.
  const bool loses_bytes = stage_.random()() % 2 == 0;
  begin(kind, Concerns::the_target, target);
  for (auto& line : target.place.lines()) {
    if (loses_bytes) {
      line.black_hole(direction);
    } else {
      line.hold_back(direction);
    }
  }
  stage_.wait_for_grant_after(target.kept);
  target.place.heal();
  end(target);
}

void Faults::cut_follower(FaultKind kind, testing::PeerDirection direction) {
  const std::size_t follower = stage_.any_follower();
  const Target target = choose_target_at(follower);
  begin(kind, Concerns::all, target);
  stage_.cluster().cut_peers(follower, stage_.cluster().wait_for_leader(), direction);
  stage_.wait_for_grant_after(target.kept);
  stage_.cluster().heal_peers();
  target.place.heal();
  end(target);
}

void Faults::cut_leader(FaultKind kind, testing::PeerDirection direction) {
  const std::size_t leader = stage_.cluster().wait_for_leader();
  const Target target = choose_target_at(leader);
  begin(kind, Concerns::all, target);
  stage_.cluster().isolate(leader, direction);
  stage_.wait_for_grant_after(target.kept);
  stage_.cluster().heal_peers();
  target.place.heal();
  end(target);
}

// -- The holder's connection or server fails; it may go to another server -------------------------

void Faults::reset_connection() {
  const Target target = choose_target();
  begin(FaultKind::connection_reset, Concerns::the_target, target);
  for (auto& line : target.place.lines()) line.cut(testing::Ending::reset);
  // After this time, a hold is lost whose session has not survived.
  stage_.pass(past_session_timeout());
  end(target);
}

void Faults::kill_server(FaultKind kind) {
  const std::size_t member =
      kind == FaultKind::leader_killed ? stage_.cluster().wait_for_leader() : stage_.any_follower();
  const Target target = choose_target_at(member);
  target.place.heal();
  begin(kind, Concerns::all, target);
  stage_.cluster().kill(member);
  stage_.pass(past_session_timeout());
  stage_.cluster().start(member);
  end(target);
}

void Faults::pause_server(FaultKind kind) {
  const std::size_t member = stage_.random()() % stage_.cluster().size();
  const Target target = choose_target_at(member);
  target.place.heal();
  begin(kind, Concerns::all, target);
  stage_.cluster().pause(member);
  stage_.pass(kind == FaultKind::server_paused ? past_session_timeout()
                                               : stage_.settings().session_timeout / 2);
  stage_.cluster().resume(member);
  end(target);
}

// -- A third party ends a session or deletes a node -----------------------------------------------

void Faults::expire_session() {
  const Target target = choose_target();
  begin(FaultKind::session_expired, Concerns::the_target, target);
  const std::size_t member = stage_.cluster().wait_for_leader();
  testing::expire_session(stage_.cluster().server(member).endpoint(), target.kept.session,
                          target.kept.password);
  stage_.wait_for_grant_after(target.kept);
  wait_until_told(target);
  end(target);
}

void Faults::delete_holder() {
  const Target target = choose_target();
  begin(FaultKind::holder_deleted, Concerns::the_target, target);
  stage_.client().remove(target.kept.node);
  stage_.wait_for_grant_after(target.kept);
  wait_until_told(target);
  end(target);
}

void Faults::delete_waiter(FaultKind kind) {
  const Target target = choose_target();
  std::vector<Participant> queue;
  stage_.wait_for("queue of three for " + target.kept.lock, [&] {
    queue = stage_.queue(target.kept.lock);
    return queue.size() >= 3;
  });
  const std::size_t victim =
      kind == FaultKind::next_deleted ? 1 : 2 + stage_.random()() % (queue.size() - 2);
  begin(kind, queue[victim].identity, target.kept.lock, to_string(queue[victim].token));
  // The waiter may have been cancelled just now, and its node be gone already.
  stage_.client().remove(queue[victim].node, {.missing = Missing::is_fine});
  end(target);
}

// -- A process is stopped or killed ---------------------------------------------------------------

void Faults::stop_worker() {
  const Target target = choose_target();
  const WorkerProcess& worker = target.place.worker();
  begin(FaultKind::worker_stopped, Concerns::the_target, target);
  stage_.journal().note("stopped " + worker.name());
  worker.stop();
  stage_.wait_for_grant_after(target.kept);
  worker.resume();
  stage_.journal().note("resumed " + worker.name());
  wait_until_told(target);
  end(target);
}

void Faults::kill_worker() {
  const Target target = choose_target();
  begin(FaultKind::worker_killed, Concerns::the_target, target);
  target.place.worker().kill();
  stage_.journal().note("killed " + target.place.worker().name());
  stage_.wait_for_grant_after(target.kept);
  stage_.employ_another(target.place);
  end(target);
}

void Faults::stay_calm() {
  begin(FaultKind::calm, "*", "-", "0");
  stage_.pass(past_session_timeout());
  healed();
  stage_.wait_until_all_is_well();
  stage_.journal().note("over " + std::to_string(number_));
}

// -- What they have in common ---------------------------------------------------------------------

Faults::Target Faults::choose_target() { return keep_at(stage_.any_place()); }

Faults::Target Faults::choose_target_at(std::size_t member) {
  Place& place = stage_.any_place();
  place.confine_to(member);
  // A grant shows that the session has reached that member.
  stage_.wait_until_all_is_well();
  return keep_at(place);
}

Faults::Target Faults::keep_at(Place& place) {
  const Target target{place, stage_.keep(place, stage_.any_lock())};
  if (stage_.random()() % 2 == 0) stage_.quieten(place);
  return target;
}

void Faults::wait_until_told(const Target& target) {
  const WorkerProcess& worker = target.place.worker();
  stage_.wait_for("word of worker " + worker.name() + " about its loss",
                  [&] { return worker.has_lost(target.kept); });
}

void Faults::begin(FaultKind kind, Concerns concerns, const Target& target) {
  begin(kind, concerns == Concerns::all ? "*" : target.place.worker().name(), target.kept.lock,
        to_string(target.kept.token));
}

void Faults::begin(FaultKind kind, const std::string& process, const std::string& lock,
                   const std::string& token) {
  stage_.journal().note("fault " + std::to_string(number_) + " " + std::string{to_string(kind)} +
                        " " + process + " " + lock + " " + token);
}

void Faults::healed() { stage_.journal().note("healed " + std::to_string(number_)); }

void Faults::end(const Target& target) {
  healed();
  target.place.worker().let_go();
  stage_.wait_until_all_is_well();
  stage_.journal().note("over " + std::to_string(number_));
}

std::chrono::milliseconds Faults::past_session_timeout() const {
  return stage_.settings().session_timeout * 9 / 8 + stage_.settings().tick;
}

}  // namespace custodian::chaos
