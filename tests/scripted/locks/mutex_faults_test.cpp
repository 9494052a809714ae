// The mutex through every fault at every request. Each scenario is first played without a fault, to
// count its requests.

#include "scripted/lock_tally.hpp"

namespace custodian::tests::mutex_faults_test {
namespace {

TEST_CASE("mutex: an uncontended acquire survives every fault") { play_faults(uncontended); }

TEST_CASE("mutex: a waiter survives every fault") { play_faults(contended); }

TEST_CASE("mutex: a holder that leaves at any moment wakes the waiter, whatever fails") {
  Scenario scenario = contended;
  scenario.name = "contended, released at each request";
  play_incidents(scenario);
}

TEST_CASE("mutex: who only tries gets the lock, or an answer, through every fault") {
  play_faults({.name = "try_acquire of a free lock", .face = Face::try_acquire});
  play_faults({.name = "try_acquire of a held lock",
               .face = Face::try_acquire,
               .held = true,
               .expected = {error_code{}}});
}

TEST_CASE("mutex: who is late leaves nothing behind, through every fault") {
  play_faults({.name = "timed acquire that is late",
               .face = Face::timed,
               .held = true,
               .expected = {error_code{}}});
}

TEST_CASE("mutex: a waiter that loses its session queues again, or says so") {
  play_faults({.name = "waiter's session expires, queues again",
               .held = true,
               .incident = Incident::own_session_expires});
  play_faults({.name = "waiter's session expires, fails",
               .held = true,
               .incident = Incident::own_session_expires,
               .requeue = RequeuePolicy::fail,
               .expected = {Errc::session_lost}});
}

TEST_CASE("mutex: nodes that an operator deletes") {
  play_faults({.name = "waiter's node deleted by an operator",
               .held = true,
               .incident = Incident::own_node_deleted,
               .expected = {Errc::node_deleted}});
  play_faults({.name = "holder's node deleted by an operator",
               .held = true,
               .incident = Incident::holders_node_deleted});
}

TEST_CASE("mutex: children that are no contenders") {
  play_faults({.name = "foreign child", .neighbours = Neighbours::foreign});
  play_faults({.name = "malformed child",
               .neighbours = Neighbours::malformed,
               .expected = {Errc::malformed_contender}});
  play_faults({.name = "sequence at its end",
               .neighbours = Neighbours::end_of_sequence,
               .expected = {Errc::sequence_exhausted}});
}

}  // namespace
}  // namespace custodian::tests::mutex_faults_test
