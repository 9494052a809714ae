#pragma once

/// \file
/// Arriving at a latch: for coroutines on the client's strand.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string>

#include "barriers/latch_tickets.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/barriers/count_down_latch.hpp"
#include "custodian/node.hpp"

namespace custodian::recipes_detail {

/// Immutable.
struct CountDown {
  Client client;
  std::string path;
  std::int32_t expected = 0;

  /// The ticket that opens the latch.
  [[nodiscard]] std::string last_ticket() const { return join(path, ticket_name(expected - 1)); }
  [[nodiscard]] OperationOptions patient() const {
    return {Deadline::never(), client.retry_policy().unlimited()};
  }
};

/// Creates the latch, unless it exists and expects as many arrivals. Returns its metadata. Errors:
/// invalid_argument, malformed_data, and those common to all operations.
[[nodiscard]] boost::asio::awaitable<Result<Stat>> join_in(CountDownPtr latch,
                                                           CancellationPtr cancellation,
                                                           OperationOptions options);

/// The number of arrivals, by the numbers of the tickets. Errors: no_node, and those common to all
/// operations.
[[nodiscard]] boost::asio::awaitable<Result<std::int32_t>> count_tickets(
    CountDownPtr latch, CancellationPtr cancellation, OperationOptions options);

/// Counts `arrivals` arrivals. `options` must have a deadline: the default one begins anew with
/// each request.
[[nodiscard]] boost::asio::awaitable<Result<void>> count_down(CountDownPtr latch,
                                                              CancellationPtr cancellation,
                                                              std::int32_t arrivals,
                                                              OperationOptions options);

}  // namespace custodian::recipes_detail
