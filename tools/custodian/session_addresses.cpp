#include "session_addresses.hpp"

#include <algorithm>
#include <future>

namespace custodian::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;
constexpr auto pause = 1s;

Addresses connections_of(const ServerAddress& server, std::uint16_t admin_port) {
  const Deadline deadline{patience};
  const Answer cons = four_letter_word(server, "cons", deadline);
  if (cons) return parse_cons(cons.text);
  if (cons.kind != Answer::Kind::not_allowed || admin_port == 0) return {};
  const Answer connections = admin_command({server.host, admin_port}, "connections", deadline);
  return connections ? parse_connections(connections.text) : Addresses{};
}

}  // namespace

SessionAddresses::SessionAddresses(std::string_view connection_string, std::uint16_t admin_port)
    : servers_{servers_of(connection_string)}, admin_port_{admin_port} {}

const Addresses& SessionAddresses::of(const std::vector<std::int64_t>& sessions) {
  const bool all_known =
      std::ranges::all_of(sessions, [&](std::int64_t session) { return known_.contains(session); });
  const auto now = std::chrono::steady_clock::now();
  if (!all_known && (!asked_ || now - asked_at_ >= pause)) {
    asked_ = true;
    ask_all();
    asked_at_ = std::chrono::steady_clock::now();
  }
  return known_;
}

void SessionAddresses::ask_all() {
  std::vector<std::future<Addresses>> answers;
  for (const ServerAddress& server : servers_) {
    answers.push_back(std::async(std::launch::async, connections_of, server, admin_port_));
  }
  known_.clear();
  for (auto& answer : answers) known_.merge(answer.get());
}

}  // namespace custodian::cli
