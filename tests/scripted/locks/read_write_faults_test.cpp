// The read/write lock through every fault at every request, every cancellation, and the downgrade
// through every pair of faults.

#include "scripted/lock_tally.hpp"

namespace custodian::tests::read_write_faults_test {
namespace {

using enum Recipe;

const Scenario free_for_writer{.name = "writer, uncontended", .recipe = writer};
const Scenario free_for_reader{.name = "reader, uncontended", .recipe = reader};
const Scenario writer_behind_reader{.name = "writer behind a reader",
                                    .recipe = writer,
                                    .held = true,
                                    .others = reader,
                                    .incident = Incident::holder_releases};
const Scenario reader_behind_writer{.name = "reader behind a writer",
                                    .recipe = reader,
                                    .held = true,
                                    .others = writer,
                                    .incident = Incident::holder_releases};
const Scenario reader_beside_reader{
    .name = "reader beside a reader", .recipe = reader, .held = true, .others = reader};
const Scenario downgrade{.name = "downgrade",
                         .face = Face::downgrade,
                         .recipe = reader,
                         .others = writer,
                         .expected_of_expiry = {Errc::lock_lost}};

TEST_CASE("read/write: an acquire survives every fault", "[read-write]") {
  play_faults(free_for_writer);
  play_faults(free_for_reader);
  play_faults(reader_beside_reader);
}

TEST_CASE("read/write: a waiter survives every fault", "[read-write]") {
  play_faults(writer_behind_reader);
  play_faults(reader_behind_writer);
}

TEST_CASE("read/write: a holder that leaves at any moment wakes the waiter, whatever fails",
          "[read-write]") {
  play_incidents(writer_behind_reader);
  play_incidents(reader_behind_writer);
}

TEST_CASE("read/write: who only tries gets the lock, or an answer, through every fault",
          "[read-write]") {
  for (Scenario scenario : {writer_behind_reader, reader_behind_writer}) {
    scenario.name += ", try_acquire";
    scenario.face = Face::try_acquire;
    scenario.incident = Incident::none;
    scenario.expected = {error_code{}};
    play_faults(scenario);
  }
}

TEST_CASE("read/write: who is late leaves nothing behind, through every fault", "[read-write]") {
  for (Scenario scenario : {writer_behind_reader, reader_behind_writer}) {
    scenario.name += ", late";
    scenario.face = Face::timed;
    scenario.incident = Incident::none;
    scenario.expected = {error_code{}};
    play_faults(scenario);
  }
}

TEST_CASE("read/write: a waiter that loses its session queues again", "[read-write]") {
  for (Scenario scenario : {writer_behind_reader, reader_behind_writer}) {
    scenario.name += ", its session expires";
    scenario.incident = Incident::own_session_expires;
    play_faults(scenario);
  }
}

TEST_CASE("read/write: nodes that an operator deletes", "[read-write]") {
  for (Scenario scenario : {writer_behind_reader, reader_behind_writer}) {
    scenario.name += ", its node is deleted";
    scenario.incident = Incident::own_node_deleted;
    scenario.expected = {Errc::node_deleted};
    play_faults(scenario);
    scenario.name += ", no, the holder's";
    scenario.incident = Incident::holders_node_deleted;
    play_faults(scenario);
  }
}

TEST_CASE("read/write: a cancelled acquire leaves a lease or nothing, at every moment",
          "[read-write]") {
  play_cancellations(writer_behind_reader);
  play_cancellations(reader_behind_writer);
}

TEST_CASE("downgrade: it survives every fault, and every pair of them", "[read-write]") {
  CHECK(play(downgrade).granted);
  play_faults(downgrade);
  play_pairs(downgrade, 0);
  play_pairs(downgrade, 1);
}

TEST_CASE("downgrade: cancelled, it leaves the write lock and maybe a lease, at every moment",
          "[read-write]") {
  play_cancellations(downgrade);
}

TEST_CASE("downgrade: whose session ends, or whose node an operator deletes, is told",
          "[read-write]") {
  Scenario scenario = downgrade;
  scenario.name = "downgrade, its session expires";
  scenario.incident = Incident::own_session_expires;
  scenario.expected = {Errc::lock_lost};
  play_incidents(scenario);
  scenario.name = "downgrade, its nodes are deleted";
  scenario.incident = Incident::own_node_deleted;
  scenario.expected = {Errc::lock_lost, Errc::node_deleted};
  play_incidents(scenario);
}

}  // namespace
}  // namespace custodian::tests::read_write_faults_test
