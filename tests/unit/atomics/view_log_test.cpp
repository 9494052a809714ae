#include "atomics/view_log.hpp"

#include "atomics/transact_step.hpp"
#include "support/catch.hpp"

namespace custodian::tests::view_log_test {
namespace {

using recipes_detail::ViewLog;
namespace op = custodian::transaction;

template <typename Operation>
const Operation& as(const TransactionOperation& operation) {
  return std::get<Operation>(operation);
}

TEST_CASE("a view checks what was read, and writes what was written") {
  ViewLog log;
  CHECK(log.transaction().empty());
  log.note_read("/a", "1", 7);
  log.note_read("/b", "2", 8);
  CHECK_FALSE(log.set("/b", "3"));
  CHECK_FALSE(log.set("/c", "4"));
  CHECK_FALSE(log.remove("/d"));
  CHECK_FALSE(log.create("/e", "5"));
  const Transaction all = log.transaction();
  REQUIRE(all.size() == 5);
  CHECK(as<op::Check>(all[0]).path == "/a");
  CHECK(as<op::Check>(all[0]).version == 7);
  CHECK(as<op::Set>(all[1]).version == 8);
  CHECK(as<op::Set>(all[1]).data == "3");
  CHECK(as<op::Set>(all[2]).version == any_version);
  CHECK(as<op::Remove>(all[3]).version == any_version);
  CHECK(as<op::Create>(all[4]).data == "5");
}

TEST_CASE("a view sees its own writes") {
  ViewLog log;
  CHECK_FALSE(log.known("/a"));
  log.note_read("/a", "1", 7);
  CHECK(log.known("/a") == ViewLog::Data{"1"});
  CHECK_FALSE(log.set("/a", "2"));
  CHECK(log.known("/a") == ViewLog::Data{"2"});
  CHECK_FALSE(log.remove("/a"));
  REQUIRE(log.known("/a"));
  CHECK_FALSE(*log.known("/a"));
  CHECK(log.set("/a", "3") == ServerErrc::no_node);
  CHECK(log.remove("/a") == ServerErrc::no_node);
  CHECK_FALSE(log.create("/a", "4"));
  CHECK(log.create("/a", "5") == ServerErrc::node_exists);
  // The first write checks the version; the later writes find the version that it has left.
  const Transaction all = log.transaction();
  REQUIRE(all.size() == 3);
  CHECK(as<op::Set>(all[0]).version == 7);
  CHECK(as<op::Remove>(all[1]).version == any_version);
  CHECK(as<op::Create>(all[2]).data == "4");
}

TEST_CASE("a view keeps what it has shown or written when the same node is read again") {
  ViewLog log;
  CHECK(log.note_read("/a", "1", 7) == ViewLog::Data{"1"});
  CHECK(log.note_read("/a", "2", 8) == ViewLog::Data{"1"});
  CHECK_FALSE(log.set("/a", "3"));
  CHECK(log.note_read("/a", "2", 8) == ViewLog::Data{"3"});
  CHECK_FALSE(log.set("/b", "4"));
  CHECK(log.note_read("/b", std::nullopt, std::nullopt) == ViewLog::Data{"4"});
  // A second check of the version would find the version that the write has left.
  const Transaction all = log.transaction();
  REQUIRE(all.size() == 2);
  CHECK(as<op::Set>(all[0]).version == 7);
  CHECK(as<op::Set>(all[1]).version == any_version);
}

TEST_CASE("a view that has missed a node creates and removes it, or creates it") {
  ViewLog log;
  log.note_read("/a", std::nullopt, std::nullopt);
  log.note_read("/b", std::nullopt, std::nullopt);
  CHECK(log.set("/a", "1") == ServerErrc::no_node);
  CHECK_FALSE(log.create("/b", "2"));
  const Transaction all = log.transaction();
  REQUIRE(all.size() == 3);
  CHECK(as<op::Create>(all[0]).path == "/a");
  CHECK(as<op::Remove>(all[1]).path == "/a");
  CHECK(as<op::Create>(all[2]).path == "/b");
}

TEST_CASE("a conflict is the refusal of an operation that relies on what was read") {
  ViewLog log;
  log.note_read("/checked", "", 1);
  log.note_read("/missing", std::nullopt, std::nullopt);
  log.note_read("/written", "", 2);
  CHECK_FALSE(log.set("/written", "a"));  // 3
  CHECK_FALSE(log.set("/written", "b"));  // 4
  CHECK_FALSE(log.set("/blind", "c"));    // 5
  CHECK_FALSE(log.create("/new", "d"));   // 6
  const error_code bad_version = ServerErrc::bad_version;
  const error_code no_node = ServerErrc::no_node;
  const error_code exists = ServerErrc::node_exists;
  CHECK(log.is_conflict(0, bad_version));
  CHECK(log.is_conflict(0, no_node));
  CHECK(log.is_conflict(1, exists));
  CHECK(log.is_conflict(3, bad_version));
  CHECK(log.is_conflict(3, no_node));
  // A parent that is missing stays missing, and a node that was not read counts as unchanged.
  CHECK_FALSE(log.is_conflict(1, no_node));
  CHECK_FALSE(log.is_conflict(5, no_node));
  CHECK_FALSE(log.is_conflict(6, exists));
  CHECK_FALSE(log.is_conflict(0, ServerErrc::no_auth));
}

// -- What follows a commit ------------------------------------------------------------------------

using recipes_detail::after_commit;
using recipes_detail::CommitRefused;
using recipes_detail::CommitStep;
using recipes_detail::Doubt;
using recipes_detail::SessionIs;

const error_code lost = ServerErrc::connection_loss;

TEST_CASE("a commit that is refused for what was read begins again, and fails for all else") {
  for (const Settle settle : {Settle::left_to_caller, Settle::exactly_once}) {
    const auto after = [&](error_code error, CommitRefused refused) {
      return after_commit(error, refused, Doubt::none, SessionIs::the_same, settle);
    };
    CHECK(after({}, CommitRefused::nothing) == CommitStep::done);
    CHECK(after(ServerErrc::bad_version, CommitRefused::conflicting) == CommitStep::again);
    CHECK(after(ServerErrc::no_node, CommitRefused::other) == CommitStep::fail);
    CHECK(after(ServerErrc::no_auth, CommitRefused::nothing) == CommitStep::fail);
    CHECK(after(Errc::deadline_exceeded, CommitRefused::nothing) == CommitStep::fail);
  }
}

TEST_CASE("a commit whose reply is lost is sent again only with a witness, in the same session") {
  const auto after = [](SessionIs session, Settle settle) {
    return after_commit(lost, CommitRefused::nothing, Doubt::none, session, settle);
  };
  CHECK(after(SessionIs::the_same, Settle::exactly_once) == CommitStep::repeat);
  CHECK(after(SessionIs::another, Settle::exactly_once) == CommitStep::fail);
  CHECK(after(SessionIs::the_same, Settle::left_to_caller) == CommitStep::fail);
  CHECK(after_commit(Errc::deadline_exceeded_outcome_unknown, CommitRefused::nothing, Doubt::none,
                     SessionIs::the_same, Settle::exactly_once) == CommitStep::fail);
}

TEST_CASE("a witness that exists proves that the commit was applied; another session nothing") {
  const auto after = [](error_code error, CommitRefused refused, SessionIs session) {
    return after_commit(error, refused, Doubt::applied_perhaps, session, Settle::exactly_once);
  };
  const error_code exists = ServerErrc::node_exists;
  const error_code moved_on = ServerErrc::bad_version;
  CHECK(after(exists, CommitRefused::witness, SessionIs::the_same) == CommitStep::done);
  CHECK(after(moved_on, CommitRefused::conflicting, SessionIs::the_same) == CommitStep::again);
  CHECK(after(ServerErrc::no_auth, CommitRefused::other, SessionIs::the_same) == CommitStep::fail);
  CHECK(after(moved_on, CommitRefused::conflicting, SessionIs::another) == CommitStep::fail);
  // A node that was missing may be missing again.
  CHECK(after(exists, CommitRefused::conflicting, SessionIs::the_same) == CommitStep::fail);
}

}  // namespace
}  // namespace custodian::tests::view_log_test
