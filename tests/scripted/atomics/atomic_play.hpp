#pragma once

/// \file
/// AtomicPlay is one operation on a distributed atomic by the client "observed", with faults, and
/// the checks that must hold in every case: a wrong value, an error that hides whether the update
/// was applied, or a node that is left is a violation.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/atomics/distributed_atomic_long.hpp"
#include "scripted/world.hpp"

namespace custodian::tests {

enum class AtomicAct {
  load,
  store,
  initialize,
  add,
  compare,
  stale_compare,
  raise_to_less,
  update
};
enum class AtomicCancelMoment { request_sent, before_reply, after_reply };
struct AtomicCancel {
  AtomicCancelMoment moment = AtomicCancelMoment::request_sent;
  std::size_t at = 0;
};

struct AtomicCase {
  AtomicAct act = AtomicAct::add;
  Settle settle = Settle::exactly_once;
  bool node_exists = true;
  /// The update begins with the lock.
  bool promoted = false;
  /// The client has updated the value before, so it has a witness and a copy.
  bool warm = false;
  Faults faults{};
  std::optional<AtomicCancel> cancel{};
  /// Another client adds `others` just before the reply to this request.
  std::optional<std::size_t> others_at{};
  /// The node and all around it are deleted just before the reply to this request.
  std::optional<std::size_t> deleted_at{};
  OperationOptions options{};
};

struct AtomicVerdict {
  std::string violation{};  ///< empty if all is well
  std::size_t steps = 0;    ///< requests of the observed client
  error_code error{};
};

[[nodiscard]] AtomicVerdict play(const AtomicCase& played);
[[nodiscard]] std::string describe(const AtomicCase& played);

/// The bytes of a number, as they are stored on the servers.
[[nodiscard]] std::string bytes_of_long(std::int64_t number);

}  // namespace custodian::tests
