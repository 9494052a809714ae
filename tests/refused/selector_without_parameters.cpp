#include "custodian/client.hpp"
#include "custodian/recipes/inter_process_mutex.hpp"
#include "custodian/recipes/leader_selector.hpp"

void try_it(const custodian::Client& client) {
  custodian::LeaderSelector selector{client, "/leaders/a", [] {}};
}
