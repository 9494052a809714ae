// The messages of the errors of barriers and latches: they name the cause, and the remedy.

#include <string>

#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/barriers/distributed_double_barrier.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"
#include "custodian/testing/fake_ensemble.hpp"
#include "support/catch.hpp"

namespace custodian::tests::barrier_messages_test {
namespace {

using namespace std::chrono_literals;

/// The message of the Error that an action throws.
template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    return error.what();
  }
  return "no error";
}

bool says(const std::string& message, const std::string& part) {
  INFO(message);
  const bool is_there = message.find(part) != std::string::npos;
  CHECK(is_there);
  return is_there;
}

TEST_CASE("messages: an operation of a double barrier out of turn says what comes first") {
  testing::FakeEnsemble ensemble;
  const Client client{ensemble.options("one")};
  DistributedDoubleBarrier member{client, "/party", 1};
  says(message_of([&] { member.leave(); }), "enter() comes first");
  says(message_of([&] { return member.try_leave_for(1s); }), "enter() comes first");
  member.enter();
  says(message_of([&] { member.enter(); }), "leave() comes first");
  says(message_of([&] { return member.try_enter_for(1s); }), "leave() comes first");
  member.leave();
}

TEST_CASE("messages: a latch that expects another number says so") {
  testing::FakeEnsemble ensemble;
  const Client client{ensemble.options("one")};
  CountDownLatch first{client, "/latch", 3};
  first.count_down();
  CountDownLatch other{client, "/latch", 4};
  const std::string part = "another number of arrivals opens it";
  says(message_of([&] { other.count_down(); }), part);
  says(message_of([&] { other.arrive_and_wait(); }), part);
  says(message_of([&] { other.wait(); }), part);
  says(message_of([&] { return other.wait_for(1s); }), part);
  // These do not look.
  CHECK(other.count() == 3);
  CHECK_FALSE(other.try_wait());
}

TEST_CASE("messages: a number that is too large for one transaction says what else to take") {
  testing::FakeEnsemble ensemble;
  ClientOptions options = ensemble.options("one");
  options.max_request_size = 20'000;
  const Client client{options};
  says(message_of([&] { InterProcessBarrier{client, "/phases", 300}; }), "expect fewer");
  says(message_of([&] { DistributedDoubleBarrier{client, "/party", 300}; }), "take fewer");
}

}  // namespace
}  // namespace custodian::tests::barrier_messages_test
