#include "atomics/update_step.hpp"

#include <boost/asio/error.hpp>
#include <vector>

#include "support/catch.hpp"

namespace custodian::tests::update_step_test {
namespace {

using recipes_detail::after_testimony;
using recipes_detail::after_try;
using recipes_detail::Doubt;
using recipes_detail::end_error;
using recipes_detail::Refused;
using recipes_detail::Step;
using recipes_detail::Testimony;
using recipes_detail::TryAnswer;

constexpr Doubt doubts[] = {Doubt::none, Doubt::applied_perhaps};
constexpr Settle settles[] = {Settle::left_to_caller, Settle::exactly_once};

TryAnswer refused(ServerErrc error, Refused what) { return {error, what}; }

TEST_CASE("a try without an error was applied") {
  for (const Doubt doubt : doubts) {
    for (const Settle settle : settles) CHECK(after_try({}, doubt, settle) == Step::done);
  }
}

TEST_CASE("a lost reply is settled only where it was asked for") {
  for (const Doubt doubt : doubts) {
    const TryAnswer lost{ServerErrc::connection_loss};
    CHECK(after_try(lost, doubt, Settle::exactly_once) == Step::repeat);
    CHECK(after_try(lost, doubt, Settle::left_to_caller) == Step::fail);
  }
}

TEST_CASE("who has given up asks no more") {
  for (const Doubt doubt : doubts) {
    for (const error_code error :
         {make_error_code(Errc::deadline_exceeded_outcome_unknown),
          make_error_code(Errc::deadline_exceeded), make_error_code(Errc::closed),
          error_code{boost::asio::error::operation_aborted}}) {
      CHECK(after_try({error}, doubt, Settle::exactly_once) == Step::fail);
    }
  }
}

TEST_CASE("only a value that was refused in doubt needs the witness") {
  for (const ServerErrc error : {ServerErrc::bad_version, ServerErrc::no_node}) {
    const TryAnswer value = refused(error, Refused::value);
    CHECK(after_try(value, Doubt::none, Settle::exactly_once) == Step::read_again);
    CHECK(after_try(value, Doubt::none, Settle::left_to_caller) == Step::read_again);
    CHECK(after_try(value, Doubt::applied_perhaps, Settle::exactly_once) == Step::ask_witness);
  }
  for (const Doubt doubt : doubts) {
    const TryAnswer witness = refused(ServerErrc::no_node, Refused::witness);
    CHECK(after_try(witness, doubt, Settle::exactly_once) == Step::new_witness);
    const TryAnswer lock = refused(ServerErrc::no_node, Refused::lock);
    CHECK(after_try(lock, doubt, Settle::exactly_once) == Step::acquire_again);
  }
}

TEST_CASE("what is no refusal ends the update") {
  for (const Doubt doubt : doubts) {
    for (const Settle settle : settles) {
      CHECK(after_try({ServerErrc::no_auth}, doubt, settle) == Step::fail);
      CHECK(after_try({Errc::not_connected}, doubt, settle) == Step::fail);
    }
  }
}

TEST_CASE(
    "a witness that names this update, or another, settles the doubt; a missing one does not") {
  CHECK(after_testimony(Testimony::of_this_update) == Step::done);
  CHECK(after_testimony(Testimony::of_another) == Step::read_again);
  CHECK(after_testimony(Testimony::missing) == Step::fail);
}

TEST_CASE("in doubt no error says that nothing was changed") {
  const error_code aborted = boost::asio::error::operation_aborted;
  CHECK(end_error(Errc::not_connected, Doubt::none) == Errc::not_connected);
  CHECK(end_error(Errc::deadline_exceeded, Doubt::none) == Errc::deadline_exceeded);
  CHECK(end_error(ServerErrc::no_auth, Doubt::applied_perhaps) == ServerErrc::connection_loss);
  CHECK(end_error(Errc::not_connected, Doubt::applied_perhaps) == ServerErrc::connection_loss);
  CHECK(end_error(Errc::deadline_exceeded, Doubt::applied_perhaps) ==
        Errc::deadline_exceeded_outcome_unknown);
  CHECK(end_error(aborted, Doubt::applied_perhaps) == aborted);
  CHECK(end_error(Errc::closed, Doubt::applied_perhaps) == Errc::closed);
}

}  // namespace
}  // namespace custodian::tests::update_step_test
