#include "messages.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

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

LogLevel least_level(int verbosity) {
  if (verbosity <= 0) return LogLevel::warning;
  return verbosity == 1 ? LogLevel::info : LogLevel::debug;
}

}  // namespace

void say(std::string_view message) { logger().log(spdlog::level::info, message); }

LogSink client_log(int verbosity) {
  return [least = least_level(verbosity)](LogLevel level, std::string_view message) {
    if (level < least) return;
    std::string line{to_string(level)};
    line.append(": ").append(message);
    say(line);
  };
}

}  // namespace custodian::cli
