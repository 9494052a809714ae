/// \file
/// Servers' answers to four-letter words and over HTTP. Text that cannot be parsed gives an empty
/// value, never a crash.

#include "servers/server_answers.hpp"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "servers/server_address.hpp"
#include "targets.hpp"

namespace custodian::fuzz {
namespace {

std::string hex(std::int64_t number) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<std::uint64_t>(number), 16);
  return {digits.data(), end.ptr};
}

std::string as_cons(const cli::Addresses& addresses) {
  std::string answer;
  for (const auto& [session, address] : addresses) {
    answer.append(" /").append(address).append("[1](queued=0,sid=0x").append(hex(session));
    answer.append(",lop=PING)\n");
  }
  return answer;
}

/// The addresses as an admin server writes them, in JSON.
std::string as_connections(const cli::Addresses& addresses) {
  auto connections = nlohmann::json::array();
  for (const auto& [session, address] : addresses) {
    connections.push_back({{"remote_socket_address", "/" + address}, {"session_id", session}});
  }
  return nlohmann::json{{"connections", connections}}.dump();
}

void check_connections(std::string_view input) {
  const cli::Addresses of_word = cli::parse_cons(input);
  require(cli::parse_cons(as_cons(of_word)) == of_word, "cons is read as it is written");
  const cli::Addresses of_admin = cli::parse_connections(input);
  require(cli::parse_connections(as_connections(of_admin)) == of_admin,
          "connections are read as they are written");
}

void check_configuration(std::string_view input) {
  for (const auto& configuration : {cli::parse_conf(input), cli::parse_configuration(input)}) {
    if (!configuration.tick_time) continue;
    const std::string conf = "tickTime=" + std::to_string(configuration.tick_time->count()) + "\n";
    require(cli::parse_conf(conf).tick_time == configuration.tick_time,
            "a tick is read as it is written");
  }
}

}  // namespace

void server_answers(std::string_view input) {
  check_connections(input);
  check_configuration(input);

  const auto report = cli::parse_srvr(input);
  require(!report || !report->version.empty() || !report->mode.empty(), "a report reports");
  static_cast<void>(cli::is_not_serving(input));

  const cli::Answer body = cli::body_of_http(input);
  require(!body || input.ends_with(body.text), "a body is the end of its answer");
}

}  // namespace custodian::fuzz
