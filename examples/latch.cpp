// An election: a leadership that lasts, its loss, and a process that only asks who leads.
//
//   custodian-example-latch 127.0.0.1:2181

#include <chrono>
#include <iostream>

#include "custodian/client.hpp"
#include "custodian/leader/leader_latch.hpp"
#include "custodian/leader/leader_observer.hpp"

using namespace std::chrono_literals;

void lead(const custodian::Client& client) {
  custodian::LeaderLatch latch{client, "/examples/leader", {.id = "machine 7"}};
  latch.start();
  const custodian::Lease leadership = latch.wait_for(10s);
  if (!leadership) {
    std::cout << "somebody else leads\n";
    return;
  }
  std::cout << "leading with token " << to_string(leadership.token()) << '\n';
  // A leader can change the identity that other processes see.
  leadership.set_identity("machine 7, port 8080");

  // An observer asks who leads, without standing for election.
  const custodian::LeaderObserver observer{client, "/examples/leader"};
  if (const auto leader = observer.leader()) std::cout << leader->identity << " leads\n";
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    lead(client);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
