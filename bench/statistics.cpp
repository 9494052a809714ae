#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace custodian::bench {
namespace {

void check_part(double q) {
  if (!(q >= 0 && q <= 1)) throw std::invalid_argument{"a quantile is in [0, 1]"};
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  check_part(q);
  if (values.empty()) throw std::invalid_argument{"a quantile of nothing"};
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

std::optional<Spread> spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  return Spread{.median = quantile(values, 0.5),
                .min = quantile(values, 0),
                .max = quantile(values, 1),
                .lower_quartile = quantile(values, 0.25),
                .upper_quartile = quantile(values, 0.75),
                .count = values.size()};
}

std::vector<double> values_of(const std::vector<Metrics>& rounds, const std::string& metric) {
  std::vector<double> values;
  for (const Metrics& round : rounds) {
    if (const auto found = round.find(metric); found != round.end()) {
      values.push_back(found->second);
    }
  }
  return values;
}

std::vector<double> ratios(const std::vector<Metrics>& ours, const std::vector<Metrics>& peers,
                           const std::string& metric) {
  std::vector<double> result;
  for (std::size_t round = 0; round < std::min(ours.size(), peers.size()); ++round) {
    const auto mine = ours[round].find(metric);
    const auto theirs = peers[round].find(metric);
    if (mine == ours[round].end() || theirs == peers[round].end() || theirs->second == 0) continue;
    result.push_back(mine->second / theirs->second);
  }
  return result;
}

int Histogram::bucket_of(std::int64_t nanoseconds) {
  const auto time = static_cast<double>(std::max<std::int64_t>(nanoseconds, 1));
  return static_cast<int>(std::lround(buckets_per_doubling * std::log2(time)));
}

double Histogram::nanoseconds_of(int bucket) {
  return std::exp2(static_cast<double>(bucket) / buckets_per_doubling);
}

void Histogram::add(int bucket, std::uint64_t count) {
  if (count == 0) return;
  buckets_[bucket] += count;
  count_ += count;
}

void Histogram::add(const Histogram& other) {
  for (const auto& [bucket, count] : other.buckets_) add(bucket, count);
  add_maximum(other.maximum_);
}

void Histogram::add_maximum(double nanoseconds) { maximum_ = std::max(maximum_, nanoseconds); }

double Histogram::at(double q) const {
  check_part(q);
  if (count_ == 0) throw std::invalid_argument{"a quantile of nothing"};
  const double wanted = std::max(1.0, std::ceil(q * static_cast<double>(count_)));
  double seen = 0;
  for (const auto& [bucket, count] : buckets_) {
    seen += static_cast<double>(count);
    if (seen < wanted) continue;
    const double time = nanoseconds_of(bucket);
    return maximum_ > 0 ? std::min(time, maximum_) : time;
  }
  return maximum_;
}

}  // namespace custodian::bench
