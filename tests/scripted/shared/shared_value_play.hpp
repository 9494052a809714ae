#pragma once

/// \file
/// SharedValuePlay is one operation on a shared count by the client "observed", with faults, and
/// the checks that must hold in every case.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/shared/shared_count.hpp"
#include "scripted/world.hpp"

namespace custodian::tests {

enum class CountAct { load, store, exchange, stale_exchange, wait };
enum class CountCancelMoment { request_sent, before_reply, after_reply };
struct CountCancel {
  CountCancelMoment moment = CountCancelMoment::request_sent;
  std::size_t at = 0;
};

struct CountCase {
  CountAct act = CountAct::load;
  bool node_exists = true;
  Faults faults{};
  std::optional<CountCancel> cancel{};
  /// The node and its parents are deleted when this request is sent.
  std::optional<std::size_t> deleted_at{};
  OperationOptions options{};
};

struct CountVerdict {
  std::string violation{};  ///< empty if all is well
  std::size_t steps = 0;    ///< requests of the observed client
};

[[nodiscard]] CountVerdict play(const CountCase& played);
[[nodiscard]] std::string describe(const CountCase& played);

/// The bytes of a count, as they are stored on the servers.
[[nodiscard]] std::string bytes_of(std::int32_t count);

}  // namespace custodian::tests
