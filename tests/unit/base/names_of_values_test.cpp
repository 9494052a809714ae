// The names of values, and the value of each name.

#include <string>

#include "custodian/acl.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/error.hpp"
#include "custodian/log.hpp"
#include "custodian/session/session.hpp"
#include "support/catch.hpp"

namespace custodian::tests::names_of_values_test {
namespace {

TEST_CASE("each state of a connection has its name") {
  using enum ConnectionState;
  CHECK(to_string(connecting) == "connecting");
  CHECK(to_string(connected) == "connected");
  CHECK(to_string(suspended) == "suspended");
  CHECK(to_string(reconnected) == "reconnected");
  CHECK(to_string(lost) == "lost");
  CHECK(to_string(closed) == "closed");
  CHECK(to_string(ConnectionState{99}) == "unknown");
}

TEST_CASE("each level of the log has its name") {
  CHECK(to_string(LogLevel::debug) == "debug");
  CHECK(to_string(LogLevel::info) == "info");
  CHECK(to_string(LogLevel::warning) == "warning");
  CHECK(to_string(LogLevel::error) == "error");
  CHECK(to_string(LogLevel{99}) == "unknown");
}

TEST_CASE("each event of a watch has its name") {
  CHECK(to_string(WatchEventType::created) == "created");
  CHECK(to_string(WatchEventType::deleted) == "deleted");
  CHECK(to_string(WatchEventType::data_changed) == "data changed");
  CHECK(to_string(WatchEventType::children_changed) == "children changed");
  CHECK(to_string(WatchEventType{99}) == "unknown");
}

TEST_CASE("the usual ACLs are ZooKeeper's own") {
  CHECK(open_acl() == Acl{AclEntry{Permissions::all, "world", "anyone"}});
  CHECK(read_acl() == Acl{AclEntry{Permissions::read, "world", "anyone"}});
  CHECK(creator_all_acl() == Acl{AclEntry{Permissions::all, "auth", ""}});
}

TEST_CASE("a number that is no error's is written as it is") {
  CHECK(make_error_code(ServerErrc{-999}).message() == "ZooKeeper error -999");
  CHECK(make_error_code(Errc{999}).message() == "custodian error 999");
  CHECK(make_error_condition(ErrorCondition{99}).message() == "unknown condition");
  CHECK(std::string{server_category().name()} == "zookeeper");
  CHECK(std::string{custodian_category().name()} == "custodian");
  CHECK(std::string{condition_category().name()} == "custodian.condition");
}

TEST_CASE("a number that is no condition's is no error's condition") {
  CHECK_FALSE(error_code{ServerErrc::throttled} == make_error_condition(ErrorCondition{99}));
  CHECK_FALSE(error_code{Errc::not_connected} == make_error_condition(ErrorCondition{99}));
}

TEST_CASE("a condition of another category is none of the library's, though its number is") {
  for (int number = -1; number < 10; ++number) {
    CAPTURE(number);
    const boost::system::error_condition of_others{number, boost::system::generic_category()};
    for (const error_code& error :
         {error_code{ServerErrc::throttled}, error_code{ServerErrc::connection_loss},
          error_code{ServerErrc::session_expired}, error_code{ServerErrc::bad_arguments},
          error_code{Errc::not_connected}, error_code{Errc::deadline_exceeded_outcome_unknown},
          error_code{Errc::session_lost}, error_code{Errc::invalid_argument}}) {
      CAPTURE(error.message());
      CHECK_FALSE(error == of_others);
    }
  }
}

TEST_CASE("an error is its own condition") {
  const error_code no_node = ServerErrc::no_node;
  CHECK(no_node == boost::system::error_condition{no_node.value(), server_category()});
  CHECK_FALSE(no_node == boost::system::error_condition{no_node.value() + 1, server_category()});
  const error_code closed = Errc::closed;
  CHECK(closed == boost::system::error_condition{closed.value(), custodian_category()});
  CHECK_FALSE(closed == boost::system::error_condition{closed.value() + 1, custodian_category()});
}

}  // namespace
}  // namespace custodian::tests::names_of_values_test
