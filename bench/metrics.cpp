#include "metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace custodian::bench {
namespace {

constexpr std::array metrics{
    Metric{"cycles_per_s", "cycles", "/s", true},
    Metric{"acquire_p50_us", "acquire p50", "us", false},
    Metric{"acquire_p99_us", "p99", "us", false},
    Metric{"acquire_max_us", "max", "us", false},
    Metric{"handover_p50_us", "hand-over p50", "us", false},
    Metric{"handover_p99_us", "hand-over p99", "us", false},
    Metric{"woken_per_release", "others woken", "per release", false},
    Metric{"first_acquire_ms", "first acquire", "ms", false},
    Metric{"round_trips", "round trips", "after the handshake", false},
    Metric{"queued_per_s", "queued", "/s", true},
    Metric{"drained_per_s", "drained", "/s", true},
    Metric{"memory_per_waiter", "memory", "B/waiter", false},
    Metric{"peak_per_waiter", "most memory", "B/waiter", false},
    Metric{"held_per_s", "acquires of all", "/s", true},
    Metric{"let_go_per_s", "releases of all", "/s", true},
    Metric{"memory_per_lock", "memory", "B/lock", false},
    Metric{"cpu_us_per_cycle", "client CPU", "us/cycle", false},
    Metric{"requests_per_cycle", "requests", "per cycle", false},
    Metric{"bytes_per_cycle", "from servers", "B/cycle", false},
};

std::string thousands_apart(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t end = std::min(digits.find('.'), digits.size()); end > first + 3;) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

}  // namespace

std::span<const Metric> all_metrics() { return metrics; }

const Metric& metric(std::string_view name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  if (found == metrics.end()) throw std::invalid_argument{std::string{name} + ": no such metric"};
  return *found;
}

std::string figure(double value) {
  std::array<char, 64> text{};
  // The rounded value decides how many decimals there are: 9.996 becomes 10.0.
  int decimals = 2;
  for (double size = std::abs(value); decimals > 0 && size >= 9.995; size /= 10) --decimals;
  for (double size = std::abs(value); size > 0 && decimals < 6 && size < 0.0995; size *= 10)
    ++decimals;
  if (value == 0) decimals = 0;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return thousands_apart(text.data());
}

std::string whole(std::int64_t number) { return thousands_apart(std::to_string(number)); }

}  // namespace custodian::bench
