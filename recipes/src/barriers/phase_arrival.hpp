#pragma once

/// \file
/// Arriving at an InterProcessBarrier: for coroutines on the client's strand.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "custodian/authoring/owned_node.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/barriers/inter_process_barrier.hpp"

namespace custodian::recipes_detail {

/// Immutable.
struct Phases {
  Client client;
  std::string path;
  std::int32_t expected = 0;

  [[nodiscard]] OperationOptions patient() const {
    return {Deadline::never(), client.retry_policy().unlimited()};
  }
};

/// One arrival, from its start to its end. Strand only.
struct PhaseArrival {
  explicit PhaseArrival(PhasesPtr at) : phases{std::move(at)} {}

  const PhasesPtr phases;
  OwnedNode own{};
  std::int32_t phase = 0;         ///< the phase at which the own node has arrived
  std::int64_t caught_up_in = 0;  ///< the session whose server has seen the own node
};
using PhaseArrivalPtr = std::shared_ptr<PhaseArrival>;

/// Arrives, and waits until the phase is over.
[[nodiscard]] boost::asio::awaitable<Result<void>> until_passed(PhaseArrivalPtr arrival,
                                                                CancellationPtr cancellation);
/// Takes an arrival back. Returns true if it is too late for that, because its phase is over.
[[nodiscard]] boost::asio::awaitable<Result<bool>> take_back(PhaseArrivalPtr arrival,
                                                             OperationOptions options);

}  // namespace custodian::recipes_detail
