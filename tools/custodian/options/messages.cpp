#include "options/messages.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <set>
#include <string>

#include "one_line.hpp"

namespace custodian::cli {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> one = [] {
    auto made = std::make_shared<spdlog::logger>("custodian",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("custodian: %v");
    made->set_level(spdlog::level::trace);
    return made;
  }();
  return *one;
}

LogLevel least_level(int verbosity) { return verbosity == 1 ? LogLevel::info : LogLevel::debug; }

std::string line(LogLevel level, std::string_view message) {
  std::string line{to_string(level)};
  return line.append(": ").append(message);
}

}  // namespace

void say(std::string_view message) {
  logger().log(spdlog::level::info, detail::in_one_line(message));
}

LogSink client_log(int verbosity) {
  if (verbosity > 0) {
    return [least = least_level(verbosity)](LogLevel level, std::string_view message) {
      if (level >= least) say(line(level, message));
    };
  }
  return [said = std::set<std::string>{}](LogLevel level, std::string_view message) mutable {
    // The C client logs a line with this mark for every attempt to connect.
    const bool is_detail = message.find(":ZOO_") != std::string_view::npos;
    if (level < LogLevel::warning || is_detail) return;
    if (const auto [text, is_new] = said.insert(line(level, message)); is_new) say(*text);
  };
}

}  // namespace custodian::cli
