// for_each_fault(), the loop for tests of services: each fault at each request.

#include "custodian/testing/for_each_fault.hpp"

#include <boost/asio/use_future.hpp>
#include <chrono>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "support/catch.hpp"

namespace custodian::tests::for_each_fault_test {
namespace {

using namespace std::chrono_literals;
using testing::FakeEnsemble;
using testing::Fault;
using testing::FaultKind;
using testing::for_each_fault;

/// Sends this many requests, and repeats none, so that each fault shows.
void send(FakeEnsemble& ensemble, const std::string& client, int requests) {
  const custodian::Client sender{ensemble.options(client)};
  sender.wait_connected({30s});
  for (int sent = 0; sent < requests; ++sent) {
    // The outcome does not matter.
    const OperationOptions once{.deadline = 30s, .retry = RetryPolicy::none()};
    sender.async_exists("/", once, boost::asio::use_future).wait();
  }
}

TEST_CASE("each fault: every request of a scenario fails once, in every way") {
  std::vector<std::string> faults;
  std::size_t requests = 0;
  const auto runs = for_each_fault(
      [&](FakeEnsemble& ensemble, const std::string& fault) {
        send(ensemble, "mine", 3);
        if (faults.empty()) requests = ensemble.history().size();
        faults.push_back(fault);
      },
      {.faults = {{.kind = FaultKind::throttle}, {.kind = FaultKind::delay, .turns = 1}}});
  CHECK(runs == faults.size());

  REQUIRE(requests >= 3);
  std::vector<std::string> expected{"no fault"};
  for (const std::string fault : {"throttle", "delay"}) {
    // In the last run no request is left for the fault.
    for (std::size_t at = 1; at <= requests + 1; ++at) {
      expected.push_back(fault + " at request " + std::to_string(at));
    }
  }
  CHECK(faults == expected);
}

TEST_CASE("each fault: only the requests of the client that is named fail") {
  std::size_t requests = 0;
  const auto runs = for_each_fault(
      [&](FakeEnsemble& ensemble, const std::string& fault) {
        send(ensemble, "another", 5);
        send(ensemble, "mine", 2);
        if (fault != "no fault") return;
        for (const auto& sent : ensemble.history()) requests += sent.client == "mine" ? 1 : 0;
      },
      {.faults = {{.kind = FaultKind::throttle}}, .client = "mine"});
  REQUIRE(requests >= 2);
  // There is one run without a fault, one for each request, and one that finds no request left.
  CHECK(runs == requests + 2);
}

TEST_CASE("each fault: what goes wrong in a run is told with its fault, and ends the loop") {
  int runs = 0;
  const auto scenario = [&](FakeEnsemble& ensemble, const std::string&) {
    ++runs;
    const custodian::Client client{ensemble.options("mine")};
    client.wait_connected({30s});
    for (int sent = 0; sent < 2; ++sent) {
      static_cast<void>(client.exists("/", {.deadline = 30s, .retry = RetryPolicy::none()}));
    }
  };
  std::string text;
  error_code nested;
  try {
    for_each_fault(scenario, {.faults = {{.kind = FaultKind::fail_before}}});
  } catch (const std::runtime_error& error) {
    text = error.what();
    try {
      std::rethrow_if_nested(error);
    } catch (const Error& cause) {
      nested = cause.code();
    }
  }
  INFO(text);
  CHECK(text.starts_with("fail before at request "));
  CHECK(text.find(": exists /: ") != std::string::npos);
  CHECK(nested == ServerErrc::connection_loss);
  CHECK(runs >= 2);
}

TEST_CASE("each fault: what is no exception of the standard's passes as it is") {
  const auto scenario = [](FakeEnsemble&, const std::string&) { throw 42; };
  CHECK_THROWS_AS(for_each_fault(scenario), int);
}

TEST_CASE("each fault: the usual ones are of each kind, differ, and cost no lock its turn") {
  const auto faults = testing::usual_faults();
  std::set<std::string> names;
  std::set<FaultKind> kinds;
  for (const Fault& fault : faults) {
    names.insert(to_string(fault));
    kinds.insert(fault.kind);
  }
  CHECK(names.size() == faults.size());
  CHECK(kinds.size() == 8);

  const auto runs = for_each_fault([](FakeEnsemble& ensemble, const std::string& fault) {
    INFO(fault);
    const custodian::Client client{ensemble.options("mine")};
    InterProcessMutex mutex{client, "/lock"};
    const AcquireResult result = mutex.try_acquire_for(30s);
    CHECK(result);
  });
  CHECK(runs > 2 * faults.size());
}

}  // namespace
}  // namespace custodian::tests::for_each_fault_test
