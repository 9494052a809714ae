#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

void try_it(custodian::InterProcessMutex& mutex) { mutex.try_acquire(); }
