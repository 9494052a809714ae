#include "custodian/testing/server_endpoint.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>

#include "wire/deadline_socket.hpp"
#include "wire/wire_session.hpp"

namespace custodian::testing {
namespace {

constexpr std::chrono::seconds patience{10};

template <class Number>
Number parse_number(std::string_view text, int base, const char* what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  // mntr also has averages: "0.0" is read as 0.
  if (error != std::errc{} || (end != text.data() + text.size() && *end != '.')) {
    throw TestingError{std::string{what} + " is not a number: \"" + std::string{text} + "\""};
  }
  return value;
}

ServerEndpoint parse_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos || colon == 0) {
    throw TestingError{"\"" + std::string{text} + "\" is not host:port"};
  }
  std::string_view host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return {std::string{host}, parse_number<std::uint16_t>(text.substr(colon + 1), 10, "the port")};
}

}  // namespace

std::string to_string(const ServerEndpoint& endpoint) {
  const bool is_ipv6 = endpoint.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" +
         std::to_string(endpoint.port);
}

std::vector<ServerEndpoint> parse_endpoints(std::string_view connect_string) {
  std::vector<ServerEndpoint> endpoints;
  for (std::size_t begin = 0; begin <= connect_string.size();) {
    const auto end = std::min(connect_string.find(',', begin), connect_string.size());
    endpoints.push_back(parse_endpoint(connect_string.substr(begin, end - begin)));
    begin = end + 1;
  }
  return endpoints;
}

std::string four_letter_word(const ServerEndpoint& endpoint, std::string_view word) {
  DeadlineSocket socket{endpoint, DeadlineSocket::Clock::now() + patience};
  socket.write(word);
  return socket.read_to_end();
}

std::map<std::string, std::string> statistics(const ServerEndpoint& endpoint) {
  std::map<std::string, std::string> values;
  std::istringstream answer{four_letter_word(endpoint, "mntr")};
  for (std::string line; std::getline(answer, line);) {
    if (const auto tab = line.find('\t'); tab != line.npos)
      values[line.substr(0, tab)] = line.substr(tab + 1);
  }
  if (values.empty()) {
    throw TestingError{to_string(endpoint) + " does not tell its statistics: \"" + answer.str() +
                       "\""};
  }
  return values;
}

std::int64_t statistic(const ServerEndpoint& endpoint, const std::string& name) {
  const auto values = statistics(endpoint);
  const auto found = values.find(name);
  if (found == values.end()) throw TestingError{to_string(endpoint) + " has no statistic " + name};
  return parse_number<std::int64_t>(found->second, 10, name.c_str());
}

std::map<std::int64_t, std::vector<std::string>> watches_by_session(
    const ServerEndpoint& endpoint) {
  // Each session has a line "0x<session>", followed by a line "\t<path>" for each of its watches.
  std::map<std::int64_t, std::vector<std::string>> watches;
  std::vector<std::string>* paths = nullptr;
  std::istringstream answer{four_letter_word(endpoint, "wchc")};
  for (std::string line; std::getline(answer, line);) {
    if (line.starts_with("0x")) {
      // Session ids with the highest bit set are printed as unsigned.
      paths = &watches[static_cast<std::int64_t>(
          parse_number<std::uint64_t>(std::string_view{line}.substr(2), 16, "a session id"))];
    } else if (paths != nullptr && line.starts_with('\t')) {
      paths->push_back(line.substr(1));
    }
  }
  // A session whose last watch was removed without firing stays in the server's list.
  std::erase_if(watches, [](const auto& session) { return session.second.empty(); });
  return watches;
}

void expire_session(const ServerEndpoint& endpoint, std::int64_t session_id,
                    std::string_view password) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds{30};
  // The limit for an answer is short: while the session's client and this second connection (the
  // twin) take the session from each other, a server may leave a handshake unanswered.
  constexpr std::chrono::seconds patience_with_twin{2};
  std::ostringstream name;
  name << to_string(endpoint) << ": session 0x" << std::hex << session_id;
  for (bool known = false;;) {
    bool gone = false;
    try {
      WireSession twin{endpoint, session_id, password, patience_with_twin};
      gone = twin.expired();
      if (!gone) {
        known = true;
        twin.close();
      }
    } catch (const TestingError&) {
      // The session's client has taken the session back, or the connection ended without an answer:
      // try again.
      if (Clock::now() > deadline) throw;
    }
    if (gone && known) return;
    if (gone) throw TestingError{name.str() + " is not known, or has another password"};
  }
}

}  // namespace custodian::testing
