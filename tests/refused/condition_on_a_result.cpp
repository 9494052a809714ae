#include "custodian/client.hpp"
#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/recipes/leader_selector.hpp"

void try_it(custodian::InterProcessMutex& mutex) {
  if (mutex.try_acquire_for(std::chrono::milliseconds{200})) {
  }
}
