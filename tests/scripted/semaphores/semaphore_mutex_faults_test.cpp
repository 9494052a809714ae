// The semaphore mutex (one permit) through every fault at every request, and every cancellation.

#include "scripted/lock_tally.hpp"

namespace custodian::tests::semaphore_mutex_faults_test {
namespace {

using enum Recipe;

const Scenario free_mutex{.name = "semaphore mutex, uncontended", .recipe = semaphore_mutex};
const Scenario held_mutex{.name = "semaphore mutex, contended",
                          .recipe = semaphore_mutex,
                          .held = true,
                          .others = semaphore_mutex,
                          .incident = Incident::holder_releases};

TEST_CASE("semaphore mutex: an acquire survives every fault", "[semaphore]") {
  CHECK(play(free_mutex).granted);
  play_faults(free_mutex);
}

TEST_CASE("semaphore mutex: a waiter survives every fault", "[semaphore]") {
  CHECK(play(held_mutex).granted);
  play_faults(held_mutex);
}

TEST_CASE("semaphore mutex: a holder that leaves at any moment wakes the waiter, whatever fails",
          "[semaphore]") {
  play_incidents(held_mutex);
}

TEST_CASE("semaphore mutex: who only tries gets it, or an answer, through every fault",
          "[semaphore]") {
  Scenario scenario = held_mutex;
  scenario.name += ", try_acquire";
  scenario.face = Face::try_acquire;
  scenario.incident = Incident::none;
  scenario.expected = {error_code{}};
  play_faults(scenario);
}

TEST_CASE("semaphore mutex: who is late leaves nothing behind, through every fault",
          "[semaphore]") {
  Scenario scenario = held_mutex;
  scenario.name += ", late";
  scenario.face = Face::timed;
  scenario.incident = Incident::none;
  scenario.expected = {error_code{}};
  play_faults(scenario);
}

TEST_CASE("semaphore mutex: a waiter that loses its session queues again, or says so",
          "[semaphore]") {
  Scenario scenario = held_mutex;
  scenario.name += ", its session expires";
  scenario.incident = Incident::own_session_expires;
  play_faults(scenario);
  scenario.name += ", fails";
  scenario.requeue = RequeuePolicy::fail;
  scenario.expected = {Errc::session_lost};
  play_faults(scenario);
}

TEST_CASE("semaphore mutex: nodes that an operator deletes", "[semaphore]") {
  Scenario scenario = held_mutex;
  scenario.name += ", its nodes are deleted";
  scenario.incident = Incident::own_node_deleted;
  scenario.expected = {Errc::node_deleted};
  play_faults(scenario);
  scenario.name += ", no, the holder's";
  scenario.incident = Incident::holders_node_deleted;
  play_faults(scenario);
}

TEST_CASE("semaphore mutex: a cancelled acquire leaves a lease or nothing, at every moment",
          "[semaphore]") {
  play_cancellations(held_mutex);
}

}  // namespace
}  // namespace custodian::tests::semaphore_mutex_faults_test
