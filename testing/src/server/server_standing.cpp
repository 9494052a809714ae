#include "server/server_standing.hpp"

#include <charconv>

#include "wire/deadline_socket.hpp"

namespace custodian::testing {
namespace {

// Returns the rest of the line that begins with `name`.
std::string_view value_of(std::string_view name, std::string_view answer) {
  const auto begin = answer.find(name);
  if (begin == answer.npos) return {};
  answer.remove_prefix(begin + name.size());
  return answer.substr(0, answer.find('\n'));
}

}  // namespace

ServerStanding parse_standing(std::string_view answer) {
  ServerStanding standing;
  standing.known = !answer.empty();
  const auto mode = value_of("Mode: ", answer);
  if (mode == "leader") standing.role = ServerStanding::Role::leads;
  if (mode == "follower") standing.role = ServerStanding::Role::follows;
  // The upper half of a transaction's number is the epoch of the leader that assigned it.
  const auto zxid = value_of("Zxid: 0x", answer);
  std::uint64_t number = 0;
  std::from_chars(zxid.data(), zxid.data() + zxid.size(), number, 16);
  standing.epoch = number >> 32;
  return standing;
}

ServerStanding ask_for_standing(const ServerEndpoint& endpoint,
                                std::chrono::milliseconds patience) {
  try {
    DeadlineSocket socket{endpoint, DeadlineSocket::Clock::now() + patience};
    socket.write("srvr");
    return parse_standing(socket.read_to_end());
  } catch (const TestingError&) {
    return {};
  }
}

}  // namespace custodian::testing
