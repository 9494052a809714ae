// Locks whose homes move from one ensemble to another while they are held.
//
//   custodian-example-moving_map 127.0.0.1:2181 127.0.0.1:2182

#include "custodian/ensembles/moving_map.hpp"

#include <chrono>
#include <iostream>
#include <string>

#include "custodian/ensembles/moving_mutex.hpp"

using namespace std::chrono_literals;

custodian::EnsembleLayout layout_of(int east, int west) {
  return {.depth = 3, .ensembles = {{"east", east}, {"west", west}}};
}

void work(const custodian::MovingMap& map, const std::string& order) {
  custodian::MovingMutex mutex{map, "/examples/moving/" + order};
  const custodian::MovingLease lease = mutex.acquire();
  std::cout << "packing " << order << " at " << lease.homes().front() << ", token " << lease.token()
            << '\n';
}

int main(int argc, char* argv[]) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...] host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client east{argv[1]};
    const custodian::Client west{argv[2]};
    custodian::MovingMapOptions options;
    options.path = "/examples/moving-map";
    options.announce_within = 100ms;  // a real fleet needs seconds
    custodian::MovingMap map{{{"east", east}, {"west", west}}, options};
    map.move_to(layout_of(1, 0));  // all paths are in the east
    work(map, "4711");

    custodian::MovingMutex leader{map, "/examples/moving/leader"};
    const custodian::MovingLease leads = leader.acquire();
    map.move_to(layout_of(0, 1));  // now all move to the west, the leader too
    std::cout << "leading at " << leads.homes().front() << ", token " << leads.token() << '\n';
    work(map, "4711");
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
