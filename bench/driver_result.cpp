#include "driver_result.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace custodian::bench {
namespace {

Histogram histogram(const nlohmann::json& json) {
  Histogram result;
  for (const auto& bucket : json.at("buckets"))
    result.add(bucket.at(0).get<int>(), bucket.at(1).get<std::uint64_t>());
  result.add_maximum(json.at("maximum").get<double>());
  return result;
}

void put(Metrics& into, const std::string& name, const Histogram& times) {
  if (times.count() == 0) return;
  into[name + "_p50_us"] = times.at(0.5) / 1e3;
  into[name + "_p99_us"] = times.at(0.99) / 1e3;
}

}  // namespace

void DriverResult::add(const DriverResult& other) {
  cycles += other.cycles;
  writes += other.writes;
  violations += other.violations;
  seconds = std::max(seconds, other.seconds);
  acquire.add(other.acquire);
  handover.add(other.handover);
}

DriverResult parse_result(const std::string& line) {
  const auto json = nlohmann::json::parse(line);
  DriverResult result;
  result.cycles = json.at("cycles");
  result.writes = json.at("writes");
  result.violations = json.at("violations");
  result.seconds = json.at("seconds");
  result.acquire = histogram(json.at("acquire"));
  result.handover = histogram(json.at("handover"));
  result.queue_seconds = json.value("queue_seconds", 0.0);
  result.drain_seconds = json.value("drain_seconds", 0.0);
  result.in_order = json.value("in_order", true);
  result.memory_bytes = json.value("memory_bytes", std::int64_t{0});
  result.peak_bytes = json.value("peak_bytes", std::int64_t{0});
  result.locks = json.value("locks", 0);
  result.hold_seconds = json.value("hold_seconds", 0.0);
  result.let_go_seconds = json.value("let_go_seconds", 0.0);
  return result;
}

Metrics to_metrics(const DriverResult& result) {
  Metrics metrics;
  const auto cycles = static_cast<double>(result.cycles);
  if (result.drain_seconds > 0) {
    metrics["queued_per_s"] = cycles / result.queue_seconds;
    metrics["drained_per_s"] = cycles / result.drain_seconds;
    metrics["memory_per_waiter"] = static_cast<double>(result.memory_bytes) / cycles;
    metrics["peak_per_waiter"] = static_cast<double>(result.peak_bytes) / cycles;
  } else if (result.seconds > 0) {
    metrics["cycles_per_s"] = cycles / result.seconds;
  }
  if (result.locks > 0) {
    metrics["held_per_s"] = result.locks / result.hold_seconds;
    metrics["let_go_per_s"] = result.locks / result.let_go_seconds;
    metrics["memory_per_lock"] = static_cast<double>(result.memory_bytes) / result.locks;
  }
  put(metrics, "acquire", result.acquire);
  if (result.acquire.count() > 0) metrics["acquire_max_us"] = result.acquire.maximum() / 1e3;
  put(metrics, "handover", result.handover);
  return metrics;
}

}  // namespace custodian::bench
