// A client's log, for tests.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "custodian/log.hpp"

namespace custodian::tests {

/// The lines of a client's log.
class LogLines {
 public:
  [[nodiscard]] LogSink sink() {
    return [this](LogLevel level, std::string_view line) {
      const std::lock_guard lock{mutex_};
      lines_.emplace_back(std::string{to_string(level)}.append(": ").append(line));
    };
  }
  [[nodiscard]] bool contains(const std::string& text) const {
    const std::lock_guard lock{mutex_};
    return std::ranges::any_of(
        lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }
  [[nodiscard]] std::size_t count(const std::string& text) const {
    const std::lock_guard lock{mutex_};
    return static_cast<std::size_t>(std::ranges::count_if(
        lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; }));
  }
  [[nodiscard]] std::string all() const {
    const std::lock_guard lock{mutex_};
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace custodian::tests
