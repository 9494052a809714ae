#include "servers/server_answers.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace custodian::cli {
namespace {

using std::chrono::milliseconds;

template <typename Function>
void for_each_line(std::string_view text, Function function) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    function(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

template <typename Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc{} || stop == text.data()) return std::nullopt;
  return number;
}

std::optional<milliseconds> milliseconds_in(std::string_view text) {
  const auto number = number_in<std::int64_t>(text);
  return number ? std::optional{milliseconds{*number}} : std::nullopt;
}

/// Java writes "name/127.0.0.1:2181" or "/127.0.0.1:2181".
std::string address_in(std::string_view text) {
  const auto slash = text.rfind('/');
  return std::string{slash == text.npos ? text : text.substr(slash + 1)};
}

std::optional<milliseconds> field(const nlohmann::json& object,
                                  std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found != object.end() && found->is_number_integer()) {
      return milliseconds{found->get<std::int64_t>()};
    }
  }
  return std::nullopt;
}

nlohmann::json object_in(std::string_view text) {
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return parsed.is_object() ? parsed : nlohmann::json::object();
}

}  // namespace

Answer body_of_http(std::string_view answer) {
  constexpr std::string_view end_of_header = "\r\n\r\n";
  const auto end = answer.find(end_of_header);
  const auto space = answer.find(' ');
  const bool is_success = answer.starts_with("HTTP/1.") && space != answer.npos &&
                          answer.substr(space + 1).starts_with("200") && end != answer.npos;
  if (!is_success) return {Answer::Kind::silent, {}};
  return {Answer::Kind::text, std::string{answer.substr(end + end_of_header.size())}};
}

std::optional<ServerReport> parse_srvr(std::string_view answer) {
  constexpr std::string_view version = "Zookeeper version: ";
  constexpr std::string_view mode = "Mode: ";
  ServerReport report;
  for_each_line(answer, [&](std::string_view line) {
    if (line.starts_with(version)) {
      line.remove_prefix(version.size());
      // "3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on ..."
      report.version = line.substr(0, line.find_first_of("-, "));
    } else if (line.starts_with(mode)) {
      report.mode = line.substr(mode.size());
    }
  });
  if (report.version.empty() && report.mode.empty()) return std::nullopt;
  return report;
}

bool is_not_serving(std::string_view srvr_answer) {
  return srvr_answer.find("not currently serving requests") != srvr_answer.npos;
}

ServerConfiguration parse_conf(std::string_view answer) {
  ServerConfiguration configuration;
  for_each_line(answer, [&](std::string_view line) {
    const auto equals = line.find('=');
    if (equals == line.npos) return;
    const std::string_view name = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    if (name == "tickTime") configuration.tick_time = milliseconds_in(value);
    if (name == "minSessionTimeout") configuration.min_session_timeout = milliseconds_in(value);
    if (name == "maxSessionTimeout") configuration.max_session_timeout = milliseconds_in(value);
  });
  return configuration;
}

ServerConfiguration parse_configuration(std::string_view json) {
  const nlohmann::json answer = object_in(json);
  return {.tick_time = field(answer, {"tick_time", "tickTime"}),
          .min_session_timeout = field(answer, {"min_session_timeout", "minSessionTimeout"}),
          .max_session_timeout = field(answer, {"max_session_timeout", "maxSessionTimeout"})};
}

Addresses parse_cons(std::string_view answer) {
  Addresses addresses;
  for_each_line(answer, [&](std::string_view line) {
    // " /127.0.0.1:51234[1](queued=0,recved=5,sent=5,sid=0x100000abc,lop=PING,...)"
    const auto begin = line.find_first_not_of(' ');
    const auto details = line.find("](");
    const auto id = line.find("sid=0x");
    if (begin == line.npos || details == line.npos || id == line.npos || id < details) return;
    const auto interest = line.rfind('[', details);
    if (interest == line.npos || interest <= begin) return;
    const auto session = number_in<std::uint64_t>(line.substr(id + 6), 16);
    if (!session) return;
    addresses[static_cast<std::int64_t>(*session)] =
        address_in(line.substr(begin, interest - begin));
  });
  return addresses;
}

Addresses parse_connections(std::string_view json) {
  Addresses addresses;
  const nlohmann::json answer = object_in(json);
  for (const char* kind : {"connections", "secure_connections"}) {
    const auto connections = answer.find(kind);
    if (connections == answer.end() || !connections->is_array()) continue;
    for (const nlohmann::json& connection : *connections) {
      if (!connection.is_object()) continue;
      const auto address = connection.find("remote_socket_address");
      const auto session = connection.find("session_id");
      const bool is_whole = address != connection.end() && address->is_string() &&
                            session != connection.end() && session->is_number_integer();
      if (is_whole) {
        addresses[session->get<std::int64_t>()] = address_in(address->get<std::string>());
      }
    }
  }
  return addresses;
}

}  // namespace custodian::cli
