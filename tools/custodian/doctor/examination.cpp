#include "doctor/examination.hpp"

#include <algorithm>
#include <ctime>
#include <future>
#include <memory>
#include <random>
#include <utility>

#include "custodian/client.hpp"
#include "doctor/path_diagnosis.hpp"

namespace custodian::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::system_clock;

constexpr auto patience = 5s;
/// The most times that the path is examined, if other clients remove it meanwhile.
constexpr int most_rounds = 5;
/// Timeouts that a client may request; servers change them to their own limits.
constexpr milliseconds shortest_timeout = 100ms;
constexpr milliseconds longest_timeout = 24h;

/// Returns the error that the function throws; no error if it throws nothing.
template <typename Function>
error_code error_of(Function function) {
  try {
    function();
    return {};
  } catch (const Error& error) {
    return error.code();
  }
}

/// Options for a session that only asks questions and holds no locks.
ClientOptions questioner(ClientOptions options, milliseconds session_timeout) {
  options.session_timeout = session_timeout;
  // With a longer touch interval the client would refuse a session timeout that is too short for
  // locks, before it asks any server.
  options.touch_interval = 1ms;
  options.operation_timeout = patience;
  options.name_space.clear();
  // Findings report the failures, so the client logs nothing.
  options.log = {};
  return options;
}

SessionTrial try_session(ClientOptions options, milliseconds timeout) {
  Client client{questioner(std::move(options), timeout)};
  SessionTrial trial;
  trial.error = error_of([&] { client.wait_connected({patience}); });
  if (!trial.error) trial.timeout = client.session().timeout;
  return trial;
}

ServerConfiguration configuration_of(const ServerFacts& facts, std::uint16_t admin_port) {
  if (facts.conf) return parse_conf(facts.conf.text);
  if (facts.conf.kind != Answer::Kind::not_allowed || admin_port == 0) return {};
  const Answer told = admin_command({facts.address.host, admin_port}, "configuration", patience);
  return told ? parse_configuration(told.text) : ServerConfiguration{};
}

ServerFacts examine_server(ServerAddress address, ClientOptions options, std::uint16_t admin_port) {
  ServerFacts facts{.address = std::move(address)};
  facts.srvr = four_letter_word(facts.address, "srvr", patience, options.tls);
  const bool answers = facts.srvr || facts.srvr.kind == Answer::Kind::not_allowed;
  if (!answers || is_not_serving(facts.srvr.text)) return facts;
  facts.conf = four_letter_word(facts.address, "conf", patience, options.tls);
  facts.cons = four_letter_word(facts.address, "cons", patience, options.tls);
  facts.configuration = configuration_of(facts, admin_port);
  const milliseconds asked = options.session_timeout;
  options.servers = to_string(facts.address);
  facts.session = try_session(options, asked);
  if (facts.session->error) return facts;
  if (!facts.configuration.min_session_timeout) {
    facts.shortest = try_session(options, shortest_timeout);
  }
  if (!facts.configuration.max_session_timeout) {
    facts.longest = try_session(options, longest_timeout);
  }
  return facts;
}

std::string random_name() {
  std::random_device random;
  return "custodian-doctor-" + std::to_string(random()) + "-" + std::to_string(random());
}

std::string below(const std::string& path, const std::string& name) {
  return (path == "/" ? path : path + "/") + name;
}

/// Finds out whether the servers have extended types, by the creation of a node with a TTL below a
/// parent that does not exist: a server without extended types answers `unimplemented`, and a
/// server with them `no_node`. Neither creates a node.
std::optional<bool> extended_types(Client& client) {
  const CreateOptions with_ttl{.mode = CreateMode::persistent_with_ttl, .ttl = 1s};
  const error_code error =
      error_of([&] { client.create("/" + random_name() + "/none", {}, with_ttl); });
  if (error == ServerErrc::unimplemented) return false;
  if (error == ServerErrc::no_node) return true;
  return std::nullopt;
}

PathFacts examine_path(Client& client, const std::string& path) {
  PathFacts facts{.path = path, .existing = path};
  while (!client.exists(facts.existing)) {
    if (facts.existing == "/") {
      facts.existing.clear();
      return facts;
    }
    facts.existing.erase(std::max<std::size_t>(facts.existing.rfind('/'), 1));
  }
  facts.list_error = error_of([&] { (void)client.children(facts.existing); });
  const error_code acl_error = error_of([&] { facts.acl = client.get_acl(facts.existing); });
  if (acl_error) facts.acl.reset();

  // The last operation always fails, so nothing is ever created.
  const std::string node = below(facts.existing, random_name());
  const auto outcome = std::make_shared<std::promise<std::vector<TransactionResult>>>();
  client.async_commit(
      {create(node, {}, CreateMode::ephemeral), remove(node), check(node + "/none")}, {},
      [outcome](error_code error, std::vector<TransactionResult> results) {
        if (results.empty()) results.push_back({.error = error});
        results.resize(std::max<std::size_t>(results.size(), 2));
        outcome->set_value(std::move(results));
      });
  const std::vector<TransactionResult> results = outcome->get_future().get();
  const auto is_own = [](const error_code& error) {
    return error && error != ServerErrc::runtime_inconsistency;
  };
  if (is_own(results[0].error)) {
    facts.create_error = results[0].error;
  } else if (is_own(results[1].error)) {
    facts.remove_error = results[1].error;
  }
  return facts;
}

/// Compares the leader's time of a transaction with this machine's time before and after the
/// transaction.
ClockFacts compare_clocks(Client& client, const std::string& existing) {
  const std::string node = below(existing, random_name());
  const auto steady_before = std::chrono::steady_clock::now();
  const auto before = system_clock::now();
  const std::vector<TransactionResult> results =
      client.commit({create(node, {}, CreateMode::ephemeral), set(node, {}), remove(node)});
  const nanoseconds took = std::chrono::steady_clock::now() - steady_before;
  ClockFacts facts{.write_time = took};
  // The millisecond is the resolution of the servers' times.
  facts.uncertainty = took / 2 + 1ms;
  facts.ahead =
      results.at(1).stat.modified - (before + std::chrono::round<system_clock::duration>(took / 2));
  return facts;
}

nanoseconds time_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + nanoseconds{time.tv_nsec};
}

/// The path with the namespace in front. It is still below the chroot of the connection string.
std::string outside(const std::string& name_space, const std::string& path) {
  if (name_space.empty()) return path;
  const std::string root = name_space.starts_with('/') ? name_space : "/" + name_space;
  return path == "/" ? root : root + path;
}

/// Examines the path. Returns false if the path was removed meanwhile; `facts` then have the
/// results so far.
bool examine_place(Client& client, const std::string& path, Facts& facts) {
  const PathFacts at_path = examine_path(client, path);
  if (facts.path_was_given || at_path.existing.empty()) facts.path = at_path;
  if (is_gone(at_path)) return false;
  const bool may_write =
      !at_path.existing.empty() && !at_path.create_error && !at_path.remove_error;
  if (!may_write) return true;
  try {
    facts.clock = compare_clocks(client, at_path.existing);
  } catch (const Error& error) {
    if (error.code() == ServerErrc::no_node) return false;
    throw;
  }
  return true;
}

void examine_ensemble(const ClientOptions& options, const ExaminationRequest& request,
                      Facts& facts) {
  Client client{questioner(options, options.session_timeout)};
  client.wait_connected({patience});
  if (request.writes == WriteTrials::none) return;
  facts.extended_types = extended_types(client);
  const std::string path = outside(options.name_space, request.path.empty() ? "/" : request.path);
  // The servers may remove an empty container at any time; the next round then examines the nearest
  // node above it. If the path is created and removed again and again, the last round counts.
  for (int round = 1; !examine_place(client, path, facts) && round < most_rounds; ++round) {
    client.sync(path);
  }
}

Security security_of(const ClientOptions& options) {
  if (options.tls) return Security::tls;
  return options.credentials.empty() ? Security::plain : Security::plain_with_credentials;
}

}  // namespace

Facts examine(const ClientOptions& options, const ExaminationRequest& request) {
  Facts facts{.session_timeout = options.session_timeout,
              .touch_interval = request.touch_interval,
              .security = security_of(options),
              .admin_server_left_out = options.tls && !request.admin_port,
              .writes_left_out = request.writes == WriteTrials::none,
              .now = system_clock::now(),
              .path_was_given = !request.path.empty(),
              .suspended = time_of(CLOCK_BOOTTIME) - time_of(CLOCK_MONOTONIC)};
  const std::uint16_t admin_port = admin_port_for(request.admin_port, options.tls);
  std::vector<std::future<ServerFacts>> servers;
  for (const ServerAddress& server : servers_of(options.servers)) {
    servers.push_back(std::async(std::launch::async, examine_server, server, options, admin_port));
  }
  for (auto& server : servers) facts.servers.push_back(server.get());
  try {
    examine_ensemble(options, request, facts);
  } catch (const Error& error) {
    if (error.code() == Errc::invalid_argument) throw;
    facts.ensemble_error = error.code();
  }
  return facts;
}

}  // namespace custodian::cli
