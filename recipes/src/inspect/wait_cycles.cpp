#include "custodian/inspect/wait_cycles.hpp"

#include "inspect/wait_graph.hpp"

namespace custodian {

std::vector<WaitCycle> find_wait_cycles(const std::vector<ListedLock>& locks) {
  return recipes_detail::WaitGraph{locks}.cycles();
}

}  // namespace custodian
