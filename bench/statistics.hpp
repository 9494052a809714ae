#pragma once

/// \file
/// Statistics summarise many measurements. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace custodian::bench {

/// The figures of one measurement, by the metric's name (metrics.hpp).
using Metrics = std::map<std::string, double>;

struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
  double lower_quartile = 0;
  double upper_quartile = 0;
  std::size_t count = 0;
};

/// The value below which the fraction `q` of the values lies, interpolated linearly as
/// numpy.percentile does. Throws std::invalid_argument if there are no values, or if `q` is not in
/// [0, 1].
[[nodiscard]] double quantile(std::vector<double> values, double q);

/// The spread of the values; nothing if there are none.
[[nodiscard]] std::optional<Spread> spread_of(const std::vector<double>& values);

/// The metric's value in each round that has it.
[[nodiscard]] std::vector<double> values_of(const std::vector<Metrics>& rounds,
                                            const std::string& metric);

/// Ours divided by the peer's, for each round in which both have the metric and the peer's is not
/// zero. Only values of the same round are compared, since these were measured right after each
/// other.
[[nodiscard]] std::vector<double> ratios(const std::vector<Metrics>& ours,
                                         const std::vector<Metrics>& peers,
                                         const std::string& metric);

/// Counts times in buckets: bucket i is for times near 2^(i/32) ns, so each bucket is 2.2 % wider
/// than the previous one. All drivers use the same buckets, so the counts of several processes can
/// be added.
class Histogram {
 public:
  static constexpr int buckets_per_doubling = 32;

  [[nodiscard]] static int bucket_of(std::int64_t nanoseconds);
  [[nodiscard]] static double nanoseconds_of(int bucket);

  void add(int bucket, std::uint64_t count = 1);
  void add(const Histogram& other);
  /// Raises the maximum to this time if it is longer.
  void add_maximum(double nanoseconds);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The exact maximum, if it is known.
  [[nodiscard]] double maximum() const noexcept { return maximum_; }
  /// The `q`-quantile of the times in ns, as exact as the buckets are wide. Throws
  /// std::invalid_argument if there are no times, or if `q` is not in [0, 1].
  [[nodiscard]] double at(double q) const;
  [[nodiscard]] const std::map<int, std::uint64_t>& buckets() const noexcept { return buckets_; }

 private:
  std::map<int, std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  double maximum_ = 0;
};

}  // namespace custodian::bench
