// A test of your own without a server: a fake ZooKeeper in the test's memory, which fails where the
// test says.
//
//   custodian-example-fake_test

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/fake_ensemble.hpp"
#include "custodian/testing/for_each_fault.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace testing = custodian::testing;

/// The function under test: it takes its turn, or throws if it could not.
custodian::FencingToken take_turn(const custodian::Client& client) {
  custodian::InterProcessMutex mutex{client, "/examples/turns"};
  const custodian::AcquireResult result = mutex.try_acquire_for(30s);
  if (!result) throw std::runtime_error{"no turn within half a minute"};
  return result.lease.token();
}

/// Loses one reply: the servers apply the first create, and the connection is cut before they can
/// answer.
class LosesTheReplyToACreate final : public testing::FaultPlan {
 public:
  testing::Fault on_submit(const testing::Submission& submission) override {
    if (has_lost_ || submission.kind != "create") return {};
    has_lost_ = true;
    return {.kind = testing::FaultKind::fail_after};
  }

 private:
  bool has_lost_ = false;
};

void a_lost_reply_costs_no_turn() {
  testing::FakeEnsemble ensemble;
  const custodian::Client client{ensemble.options("mine")};
  const auto before = take_turn(client);

  ensemble.clear_history();
  ensemble.set_fault_plan(std::make_shared<LosesTheReplyToACreate>());
  if (take_turn(client) <= before) throw std::logic_error{"the token did not grow"};

  const auto history = ensemble.history();
  if (std::ranges::count(history, "create", &testing::Submission::kind) < 2)
    throw std::logic_error{"nothing was lost"};
}

/// Tries each kind of fault at each request of a turn: some hundred runs, in a few seconds.
void no_fault_costs_a_turn() {
  testing::for_each_fault([](testing::FakeEnsemble& ensemble, const std::string& /*fault*/) {
    const custodian::Client client{ensemble.options("mine")};
    take_turn(client);
  });
}

/// Runs the client on the test's own context. The test closes the client before the context is
/// destroyed.
void a_turn_on_the_context_of_the_test() {
  testing::FakeEnsemble ensemble;
  asio::io_context context;
  custodian::Client client{context.get_executor(), ensemble.options("mine")};
  custodian::InterProcessMutex mutex{client, "/examples/turns"};
  custodian::AcquireResult result;
  mutex.async_try_acquire_for(30s, [&](custodian::error_code error, custodian::AcquireResult got) {
    if (error) throw custodian::Error{error, "try_acquire_for", mutex.path()};
    result = std::move(got);
    result.lease.release();
    client.close();  // now context.run() returns: nothing is left to do
  });
  context.run();
  if (result.reason != custodian::NotAcquired::none) throw std::logic_error{result.explain()};
}

void a_worker_is_told_before_another_one_has_its_turn() {
  const auto clock = std::make_shared<testing::FakeClock>();
  testing::FakeEnsemble ensemble{{.clock = clock}};
  const custodian::Client client{ensemble.options("mine")};
  const custodian::Client others{ensemble.options("others")};
  custodian::InterProcessMutex mutex{client, "/examples/turns"};
  custodian::InterProcessMutex same{others, "/examples/turns"};

  const custodian::Lease lease = mutex.acquire();
  clock->advance(1h);  // the servers answer the client's beats, so the lease stays
  if (lease.state() != custodian::LeaseState::held) throw std::logic_error{"lost in good health"};

  ensemble.cut_off("mine");
  clock->advance(lease.remaining());
  if (!lease.lost().stop_requested()) throw std::logic_error{"the worker was not told"};
  const custodian::AcquireResult too_early = same.try_acquire();
  if (too_early) throw std::logic_error{"two have their turn"};

  clock->advance(10s);  // the session has expired by now
  const custodian::AcquireResult next = same.try_acquire();
  if (!next) throw std::logic_error{"the servers keep the lock of a session that is over"};
}

int main() {
  try {
    a_lost_reply_costs_no_turn();
    no_fault_costs_a_turn();
    a_turn_on_the_context_of_the_test();
    a_worker_is_told_before_another_one_has_its_turn();
    std::cout << "all turns were taken\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
