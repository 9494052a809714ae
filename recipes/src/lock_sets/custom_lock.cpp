#include "custodian/lock_sets/custom_lock.hpp"

namespace custodian {

CustomHold::~CustomHold() = default;

CustomLock::~CustomLock() = default;

}  // namespace custodian
