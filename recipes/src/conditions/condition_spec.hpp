#pragma once

/// \file
/// ConditionSpec is the data of a condition: its path, and the lock that its waiters hold.

#include <memory>
#include <string>

#include "custodian/client.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

/// Immutable.
struct ConditionSpec {
  Client client;
  std::string path;
  LockSpecPtr lock;
};
using ConditionSpecPtr = std::shared_ptr<const ConditionSpec>;

}  // namespace custodian::recipes_detail
