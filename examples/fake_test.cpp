// A test of your own without a server: ZooKeeper is in its memory, and fails where the test says.
//
//   custodian-example-fake_test

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "custodian/client.hpp"
#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/testing/fake_ensemble.hpp"

using namespace std::chrono_literals;
namespace testing = custodian::testing;

/// What is tested: it takes its turn, or says that it could not.
custodian::FencingToken take_turn(const custodian::Client& client) {
  custodian::InterProcessMutex mutex{client, "/examples/turns"};
  const custodian::AcquireResult result = mutex.try_acquire_for(30s);
  if (!result) throw std::runtime_error{"no turn within half a minute"};
  return result.lease.token();
}

/// The servers apply a create, and the connection is cut before they can say so; once.
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

int main() {
  try {
    a_lost_reply_costs_no_turn();
    std::cout << "all turns were taken\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
