#include "custodian/client.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

void try_it(custodian::InterProcessMutex& mutex) {
  if (mutex.try_acquire_for(std::chrono::milliseconds{200}).lease) {
  }
}
