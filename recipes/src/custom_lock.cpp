#include "custodian/recipes/custom_lock.hpp"

namespace custodian {

CustomHold::~CustomHold() = default;

CustomLock::~CustomLock() = default;

}  // namespace custodian
