#include "servers/session_addresses.hpp"

#include <algorithm>
#include <future>
#include <iterator>

namespace custodian::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;
constexpr auto shortest_pause = 1s;
constexpr auto longest_pause = 60s;

Addresses connections_of(const ServerAddress& server, std::uint16_t admin_port,
                         const std::optional<TlsOptions>& tls) {
  const Deadline deadline{patience};
  const Answer cons = four_letter_word(server, "cons", deadline, tls);
  if (cons) return parse_cons(cons.text);
  if (cons.kind != Answer::Kind::not_allowed || admin_port == 0) return {};
  const Answer connections = admin_command({server.host, admin_port}, "connections", deadline);
  return connections ? parse_connections(connections.text) : Addresses{};
}

}  // namespace

Addresses brought_up_to_date(const Addresses& known, Addresses told,
                             const std::vector<std::int64_t>& sessions) {
  for (const std::int64_t session : sessions) {
    if (const auto old = known.find(session); old != known.end()) told.insert(*old);
  }
  return told;
}

SessionAddresses::SessionAddresses(std::string_view connection_string,
                                   std::optional<std::uint16_t> admin_port,
                                   std::optional<TlsOptions> tls)
    : servers_{servers_of(connection_string)},
      admin_port_{admin_port_for(admin_port, tls)},
      tls_{std::move(tls)} {}

const Addresses& SessionAddresses::of(const std::vector<std::int64_t>& sessions) {
  const auto due = next_question(sessions);
  if (due && *due <= Clock::now()) {
    const Clock::duration pause = pause_before(unknown_among(sessions));
    known_ = brought_up_to_date(known_, ask_all(), sessions);
    asked_at_ = Clock::now();
    untold_ = unknown_among(sessions);
    pause_ = std::min<Clock::duration>(pause * 2, longest_pause);
  }
  return known_;
}

std::optional<SessionAddresses::Clock::time_point> SessionAddresses::next_question(
    const std::vector<std::int64_t>& sessions) const {
  const std::set<std::int64_t> unknown = unknown_among(sessions);
  if (unknown.empty()) return std::nullopt;
  return asked_at_ ? *asked_at_ + pause_before(unknown) : Clock::now();
}

std::set<std::int64_t> SessionAddresses::unknown_among(
    const std::vector<std::int64_t>& sessions) const {
  std::set<std::int64_t> unknown;
  std::ranges::copy_if(sessions, std::inserter(unknown, unknown.end()),
                       [&](std::int64_t session) { return !known_.contains(session); });
  return unknown;
}

SessionAddresses::Clock::duration SessionAddresses::pause_before(
    const std::set<std::int64_t>& unknown) const {
  return std::ranges::includes(untold_, unknown) ? pause_ : shortest_pause;
}

Addresses SessionAddresses::ask_all() const {
  std::vector<std::future<Addresses>> answers;
  for (const ServerAddress& server : servers_) {
    answers.push_back(std::async(std::launch::async, connections_of, server, admin_port_, tls_));
  }
  Addresses told;
  for (auto& answer : answers) told.merge(answer.get());
  return told;
}

}  // namespace custodian::cli
