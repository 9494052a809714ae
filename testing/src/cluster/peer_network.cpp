#include "cluster/peer_network.hpp"

#include <chrono>
#include <future>
#include <utility>

#include "cluster/election_greeting.hpp"

namespace custodian::testing {
namespace {

// A newly elected leader opens its port a moment late, so a follower that finds the port closed
// tries again. Here the proxy has accepted the follower already, so the proxy must try again
// itself.
constexpr std::chrono::milliseconds connect_patience{1000};

}  // namespace

PeerNetwork::PeerNetwork(std::size_t size, const std::string& address, PeerLinks links)
    : address_{address} {
  for (std::size_t i = 0; i < size; ++i) ports_.push_back(std::make_unique<Ports>(address));
  if (links == PeerLinks::proxied) make_links();
}

void PeerNetwork::make_links() {
  // The addresses to put into greetings: the first index is the member that greets, the second the
  // member that is greeted. The addresses are known only when all proxies exist, so the proxies get
  // a future.
  using Addresses = std::vector<std::vector<std::string>>;
  std::promise<Addresses> promise;
  const std::shared_future<Addresses> back = promise.get_future();
  Addresses addresses(ports_.size());
  links_.resize(ports_.size());
  for (std::size_t from = 0; from < ports_.size(); ++from) {
    for (std::size_t to = 0; to < ports_.size(); ++to) {
      Link& link = links_[from].emplace_back();
      if (from == to) continue;
      FaultProxyOptions options;
      options.address = address_;
      options.connect_patience = connect_patience;
      link.quorum = std::make_unique<FaultProxy>(
          ServerEndpoint{address_, ports_[to]->quorum.number()}, options);
      options.edit_to_server = [back, from, to]() -> StreamEdit {
        return [greeting = ElectionGreeting{back.get()[from][to]}](std::string_view bytes) mutable {
          return greeting.edit(bytes);
        };
      };
      link.election = std::make_unique<FaultProxy>(
          ServerEndpoint{address_, ports_[to]->election.number()}, options);
    }
  }
  for (std::size_t from = 0; from < ports_.size(); ++from) {
    for (std::size_t to = 0; to < ports_.size(); ++to) {
      addresses[from].push_back(from == to ? "" : links_[to][from].election->connect_string());
    }
  }
  promise.set_value(std::move(addresses));
}

std::vector<std::string> PeerNetwork::server_lines(std::size_t member) const {
  std::vector<std::string> lines;
  for (std::size_t other = 0; other < ports_.size(); ++other) {
    const bool direct = links_.empty() || other == member;
    const auto quorum =
        direct ? ports_[other]->quorum.number() : links_[member][other].quorum->endpoint().port;
    const auto election =
        direct ? ports_[other]->election.number() : links_[member][other].election->endpoint().port;
    lines.push_back("server." + std::to_string(other + 1) + "=" +
                    to_string(ServerEndpoint{address_, quorum}) + ":" + std::to_string(election));
  }
  return lines;
}

PeerNetwork::Link& PeerNetwork::link(std::size_t from, std::size_t to) {
  if (links_.empty())
    throw TestingError{"the links between members are direct: no proxy can cut them"};
  return links_.at(from).at(to);
}

void PeerNetwork::cut(std::size_t from, std::size_t to) {
  if (from == to) throw TestingError{"a member has no link to itself"};
  const auto hold_back = [](Link& link, Direction direction) {
    link.quorum->hold_back(direction);
    link.election->hold_back(direction);
  };
  // The bytes of `from` travel on connections that `from` has opened, and on those that `to` has
  // opened.
  hold_back(link(from, to), Direction::to_server);
  hold_back(link(to, from), Direction::to_client);
}

void PeerNetwork::heal() {
  for (auto& row : links_) {
    for (Link& each : row) {
      if (!each.quorum) continue;
      each.quorum->heal();
      each.election->heal();
    }
  }
}

}  // namespace custodian::testing
