// Workers that see each other.
//
//   custodian-example-group 127.0.0.1:2181

#include <iostream>
#include <syncstream>
#include <thread>

#include "custodian/client.hpp"
#include "custodian/nodes/group_member.hpp"

namespace {

/// Prints each change of the group, for as long as the subscription lives.
custodian::Subscription follow(const custodian::Group& group) {
  return group.on_change([](const custodian::GroupChange& change) {
    constexpr const char* words[] = {" has joined", " says something else", " has left"};
    // The whole line is one write, because several threads print.
    std::osyncstream{std::cout} << change.member.id << words[static_cast<int>(change.kind)] << '\n';
  });
}

/// Waits until this process sees `size` members in the group.
void wait_for_size(const custodian::Group& group, std::size_t size) {
  while (group.members().size() != size) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    const custodian::Group group{client, "/examples/fleet"};
    const custodian::Subscription subscription = follow(group);

    custodian::GroupMember first{client, "/examples/fleet", "worker-1", "10.0.0.1"};
    custodian::GroupMember second{client, "/examples/fleet", "worker-2", "10.0.0.2"};
    wait_for_size(group, 2);
    for (const auto& [id, payload] : group.members()) {
      std::osyncstream{std::cout} << id << " at " << payload << '\n';
    }
    second.leave();
    wait_for_size(group, 1);
    std::osyncstream{std::cout} << group.members().size() << " is left\n";
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
