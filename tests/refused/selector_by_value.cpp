#include "custodian/client.hpp"
#include "custodian/leader/leader_selector.hpp"
#include "custodian/locks/inter_process_mutex.hpp"

void try_it(const custodian::Client& client) {
  custodian::LeaderSelector selector{client, "/leaders/a",
                                     [](custodian::Lease, std::stop_token) {}};
}
