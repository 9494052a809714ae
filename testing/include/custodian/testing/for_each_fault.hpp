#pragma once

/// \file
/// for_each_fault() runs a scenario with each kind of fault at each of its requests, to find what a
/// service does not expect.
///
///     testing::for_each_fault([](testing::FakeEnsemble& ensemble, const std::string& fault) {
///       custodian::Client client{ensemble.options("shop")};
///       // An order, and a check of its outcome. `fault` says in words what goes wrong.
///     });
///
/// When not to use it: for two faults in one run, or for a fault at one certain request, write a
/// FaultPlan. For servers that are away for long, use FakeEnsemble::stop().

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "custodian/testing/fake_ensemble.hpp"
#include "custodian/testing/fault_plan.hpp"

namespace custodian::testing {

/// The faults that end by themselves: connections that are cut before or after the request is
/// applied, with or without the loss of earlier replies, with or without a next server that lags
/// behind, or with the end of the watches; a request that cannot be sent; a request that is applied
/// late; sessions that end; a reply that comes late; a server that is busy.
[[nodiscard]] std::vector<Fault> usual_faults();

/// The fault in words, such as "fail after, earlier replies lost, then a server that lags behind".
[[nodiscard]] std::string to_string(const Fault& fault);

/// The options of for_each_fault().
struct ForEachFaultOptions {
  /// The faults; each is tried at each request.
  std::vector<Fault> faults = usual_faults();
  /// The name of the client whose requests get the faults, as in FakeEnsemble::options(). Empty:
  /// all clients.
  std::string client{};
};

/// A scenario, from the construction of its clients to their end. Each run has an empty ensemble.
/// `fault` is a text such as "fail after at request 7", where requests are counted from 1
/// (`Submission::index` counts from 0), or "no fault".
using FaultScenario = std::function<void(FakeEnsemble& ensemble, const std::string& fault)>;

/// Runs the scenario without a fault, and then once for each fault at each request that it sends:
/// at the first, at the second, and so on, until a run ends before that request. Requests that a
/// client sends by itself count, too, such as its first beat. Returns how many runs there were. The
/// scenario must end by itself, whatever goes wrong.
///
/// Throws std::runtime_error with the fault in its text when a run throws a std::exception, which
/// is nested in the std::runtime_error (std::rethrow_if_nested). Any other exception, as some test
/// frameworks throw, is passed on as it is. Either ends the loop.
///
/// Threads: the scenario runs on the caller's thread, one run after the other.
std::size_t for_each_fault(const FaultScenario& scenario, const ForEachFaultOptions& options = {});

}  // namespace custodian::testing
