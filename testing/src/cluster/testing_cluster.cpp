#include "custodian/testing/testing_cluster.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "cluster/peer_network.hpp"
#include "server/server_installation.hpp"
#include "server/server_standing.hpp"

namespace custodian::testing {
namespace {

using SteadyClock = std::chrono::steady_clock;

using Role = ServerStanding::Role;

TestingServerOptions member_options(const TestingClusterOptions& options,
                                    const PeerNetwork& network, std::size_t member) {
  TestingServerOptions result = options.server;
  result.port = 0;
  if (result.tls) result.tls->port = 0;
  result.ensemble_member = static_cast<unsigned>(member + 1);
  // Without reconfiguration each member keeps its own view of the addresses, with the proxies in
  // it. With reconfiguration all members would adopt their leader's view.
  result.config_lines = {"initLimit=" + std::to_string(options.init_limit),
                         "syncLimit=" + std::to_string(options.sync_limit),
                         "standaloneEnabled=false", "reconfigEnabled=false"};
  const auto servers = network.server_lines(member);
  result.config_lines.insert(result.config_lines.end(), servers.begin(), servers.end());
  result.config_lines.insert(result.config_lines.end(), options.server.config_lines.begin(),
                             options.server.config_lines.end());
  // A member without a leader sends its vote less and less often, down to once a minute
  // (FastLeaderElection). After a long cut an election would take that long, too, so the interval
  // is limited.
  result.java_options = {"-Dzookeeper.fastleader.maxNotificationInterval=400"};
  result.java_options.insert(result.java_options.end(), options.server.java_options.begin(),
                             options.server.java_options.end());
  return result;
}

}  // namespace

struct TestingCluster::Impl {
  // The result of the last operation on the member.
  enum class State { started, paused, stopped };
  struct Member {
    std::unique_ptr<TestingServer> server;
    std::unique_ptr<FaultProxy> proxy;  // between the member and its clients
    State state = State::started;
  };

  explicit Impl(TestingClusterOptions chosen);

  [[nodiscard]] ServerStanding standing(std::size_t member,
                                        std::chrono::milliseconds patience) const;
  [[nodiscard]] std::optional<std::size_t> leader(std::chrono::milliseconds patience) const;

  // Polls until the condition holds. The condition gets the limit for each server's answer.
  void wait(const std::string& what, Limit limit,
            const std::function<bool(std::chrono::milliseconds)>& condition) const;
  std::size_t wait_for_leader(const std::string& what, Limit limit,
                              const std::function<bool(std::size_t)>& will_do) const;
  [[nodiscard]] std::string logs() const;
  // The endpoint at which clients with TLS reach the member.
  [[nodiscard]] const ServerEndpoint& secure_entry(std::size_t member) const;

  const TestingClusterOptions options;
  PeerNetwork network;
  std::vector<Member> members;
};

TestingCluster::Impl::Impl(TestingClusterOptions chosen)
    : options{std::move(chosen)},
      network{options.size, options.server.address, options.peer_links} {
  for (std::size_t i = 0; i < options.size; ++i) {
    Member& member = members.emplace_back();
    member.server = std::make_unique<TestingServer>(member_options(options, network, i));
    if (options.client_links == ClientLinks::proxied) {
      FaultProxyOptions proxy;
      proxy.address = options.server.address;
      const TestingServer& server = *member.server;
      member.proxy = std::make_unique<FaultProxy>(
          options.server.tls ? server.secure_endpoint() : server.endpoint(), proxy);
    }
  }
}

ServerStanding TestingCluster::Impl::standing(std::size_t member,
                                              std::chrono::milliseconds patience) const {
  const Member& asked = members.at(member);
  if (asked.state != State::started) return {.known = true};
  return ask_for_standing(asked.server->endpoint(), patience);
}

std::optional<std::size_t> TestingCluster::Impl::leader(std::chrono::milliseconds patience) const {
  std::optional<std::size_t> found;
  std::uint64_t epoch = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ServerStanding each = standing(i, patience);
    if (each.role != Role::leads || (found && each.epoch <= epoch)) continue;
    found = i;
    epoch = each.epoch;
  }
  return found;
}

void TestingCluster::Impl::wait(
    const std::string& what, Limit limit,
    const std::function<bool(std::chrono::milliseconds)>& condition) const {
  constexpr std::chrono::milliseconds between_attempts{10};
  constexpr std::chrono::milliseconds longest_patience{2000};
  const auto length = limit.value_or(options.server.start_timeout);
  const auto deadline = SteadyClock::now() + length;
  // A member that starts, or changes its role, may leave a question unanswered: ask again soon, but
  // wait longer each time, for a slow machine.
  std::chrono::milliseconds patience{100};
  while (!condition(patience)) {
    for (const Member& each : members) {
      if (each.state == State::stopped || each.server->is_running()) continue;
      throw TestingError{"no " + what + ": a server has ended by itself. " +
                         how_to_install(options.server) + "\n" + logs()};
    }
    if (SteadyClock::now() >= deadline) {
      throw TestingError{"no " + what + " after " + std::to_string(length.count()) + " ms.\n" +
                         logs()};
    }
    patience = std::min(patience * 5 / 4, longest_patience);
    std::this_thread::sleep_for(between_attempts);
  }
}

std::size_t TestingCluster::Impl::wait_for_leader(
    const std::string& what, Limit limit, const std::function<bool(std::size_t)>& will_do) const {
  std::size_t found = 0;
  wait(what, limit, [&](auto answer_within) {
    const auto now = leader(answer_within);
    if (now) found = *now;
    return now && will_do(*now);
  });
  return found;
}

std::string TestingCluster::Impl::logs() const {
  std::string text;
  for (const Member& each : members) {
    const char* state = each.state == State::paused ? " is paused"
                        : each.server->is_running() ? " runs"
                                                    : " does not run";
    text += "The server at " + to_string(each.server->endpoint()) + state +
            ". The end of its log:\n" + each.server->log_tail(10);
  }
  return text;
}

const ServerEndpoint& TestingCluster::Impl::secure_entry(std::size_t member) const {
  const Member& asked = members.at(member);
  const ServerEndpoint& direct = asked.server->secure_endpoint();
  return asked.proxy ? asked.proxy->endpoint() : direct;
}

TestingCluster::TestingCluster(TestingClusterOptions options)
    : impl_{std::make_unique<Impl>(std::move(options))} {
  wait_until_serving();
}

TestingCluster::~TestingCluster() = default;

std::size_t TestingCluster::size() const { return impl_->members.size(); }

std::string TestingCluster::connect_string() const {
  std::string text;
  for (std::size_t i = 0; i < size(); ++i) text += (i == 0 ? "" : ",") + connect_string(i);
  return text;
}

std::string TestingCluster::connect_string(std::size_t member) const {
  const auto& each = impl_->members.at(member);
  const bool is_proxied = each.proxy && !impl_->options.server.tls;
  return is_proxied ? each.proxy->connect_string() : each.server->connect_string();
}

std::string TestingCluster::secure_connect_string() const {
  std::string text;
  for (std::size_t i = 0; i < size(); ++i)
    text += (i == 0 ? "secure://" : ",") + to_string(impl_->secure_entry(i));
  return text;
}

std::string TestingCluster::secure_connect_string(std::size_t member) const {
  return "secure://" + to_string(impl_->secure_entry(member));
}

ClientOptions TestingCluster::client_options() const {
  ClientOptions options = server(0).client_options();
  options.servers = connect_string();
  return options;
}

void TestingCluster::expire(const Client& client) const {
  const std::optional<std::size_t> serving = leader();
  if (!serving) throw TestingError{"no member leads, so no session can be ended"};
  server(*serving).expire(client);
}

const TestingServer& TestingCluster::server(std::size_t member) const {
  return *impl_->members.at(member).server;
}

// -- Who leads ------------------------------------------------------------------------------------

namespace {
// The limit for the answer to a question that is not repeated.
constexpr std::chrono::milliseconds patience{2000};
}  // namespace

std::optional<std::size_t> TestingCluster::leader() const { return impl_->leader(patience); }

std::vector<std::size_t> TestingCluster::followers() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < size(); ++i) {
    if (impl_->standing(i, patience).role == Role::follows) found.push_back(i);
  }
  return found;
}

bool TestingCluster::is_serving(std::size_t member) const {
  return impl_->standing(member, patience).role != Role::none;
}

std::size_t TestingCluster::wait_for_leader(Limit limit) const {
  return impl_->wait_for_leader("leader", limit, [](std::size_t) { return true; });
}

std::size_t TestingCluster::wait_for_leader_other_than(std::size_t member, Limit limit) const {
  return impl_->wait_for_leader("leader other than " + std::to_string(member), limit,
                                [member](std::size_t leader) { return leader != member; });
}

void TestingCluster::wait_until_serving(Limit limit) const {
  impl_->wait("ensemble whose members all serve", limit, [&](auto answer_within) {
    for (std::size_t i = 0; i < size(); ++i) {
      if (impl_->members[i].state == Impl::State::started &&
          impl_->standing(i, answer_within).role == Role::none)
        return false;
    }
    return true;
  });
}

void TestingCluster::wait_until_serving(std::size_t member, Limit limit) const {
  impl_->wait("service by member " + std::to_string(member), limit, [&](auto answer_within) {
    return impl_->standing(member, answer_within).role != Role::none;
  });
}

void TestingCluster::wait_until_not_serving(std::size_t member, Limit limit) const {
  impl_->wait("end of service by member " + std::to_string(member), limit, [&](auto answer_within) {
    const ServerStanding standing = impl_->standing(member, answer_within);
    return standing.known && standing.role == Role::none;
  });
}

// -- Members --------------------------------------------------------------------------------------

void TestingCluster::start(std::size_t member) {
  auto& each = impl_->members.at(member);
  each.server->start();
  each.state = Impl::State::started;
}

void TestingCluster::stop(std::size_t member) {
  auto& each = impl_->members.at(member);
  each.state = Impl::State::stopped;
  each.server->stop();
}

void TestingCluster::kill(std::size_t member) {
  auto& each = impl_->members.at(member);
  each.state = Impl::State::stopped;
  each.server->kill();
}

void TestingCluster::restart(std::size_t member) {
  stop(member);
  start(member);
}

void TestingCluster::pause(std::size_t member) {
  auto& each = impl_->members.at(member);
  each.server->pause();
  each.state = Impl::State::paused;
}

void TestingCluster::resume(std::size_t member) {
  auto& each = impl_->members.at(member);
  each.server->resume();
  each.state = Impl::State::started;
}

void TestingCluster::lose_quorum(Loss loss) {
  std::vector<std::size_t> available;
  for (std::size_t i = 0; i < size(); ++i) {
    if (impl_->members[i].state == Impl::State::started) available.push_back(i);
  }
  if (const auto first = leader()) {
    const auto found = std::ranges::find(available, *first);
    if (found != available.end()) std::rotate(available.begin(), found, found + 1);
  }
  const std::size_t largest_minority = size() / 2;
  while (available.size() > largest_minority) {
    const std::size_t lost = available.front();
    available.erase(available.begin());
    if (loss == Loss::kill) {
      kill(lost);
    } else {
      pause(lost);
    }
  }
  for (const std::size_t each : available) wait_until_not_serving(each);
}

void TestingCluster::regain_quorum() {
  for (std::size_t i = 0; i < size(); ++i) {
    switch (impl_->members[i].state) {
      case Impl::State::started: break;
      case Impl::State::paused: resume(i); break;
      case Impl::State::stopped: start(i); break;
    }
  }
  wait_until_serving();
}

// -- Links ----------------------------------------------------------------------------------------

void TestingCluster::cut_peers(std::size_t member, std::size_t other, PeerDirection direction) {
  if (direction != PeerDirection::incoming) impl_->network.cut(member, other);
  if (direction != PeerDirection::outgoing) impl_->network.cut(other, member);
}

void TestingCluster::isolate(std::size_t member, PeerDirection direction) {
  for (std::size_t i = 0; i < size(); ++i) {
    if (i != member) cut_peers(member, i, direction);
  }
}

void TestingCluster::heal_peers() { impl_->network.heal(); }

FaultProxy& TestingCluster::client_proxy(std::size_t member) {
  const auto& proxy = impl_->members.at(member).proxy;
  if (!proxy) throw TestingError{"the links of clients are direct: there is no proxy"};
  return *proxy;
}

}  // namespace custodian::testing
