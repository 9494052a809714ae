// The benchmark's arithmetic: spreads, ratios, histograms and counts of packets.

#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "packet_counter.hpp"
#include "support/catch.hpp"
#include "workloads.hpp"

namespace custodian::tests::statistics_test {
namespace {

using namespace custodian::bench;

TEST_CASE("a quantile lies between two values in proportion") {
  CHECK(quantile({3}, 0) == 3);
  CHECK(quantile({3}, 1) == 3);
  CHECK(quantile({4, 1, 3, 2}, 0) == 1);
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({4, 1, 3, 2}, 1) == 4);
  CHECK(quantile({0, 10}, 0.25) == 2.5);
  CHECK_THROWS_AS(quantile({}, 0.5), std::invalid_argument);
  CHECK_THROWS_AS(quantile({1}, 1.01), std::invalid_argument);
  CHECK_THROWS_AS(quantile({1}, std::nan("")), std::invalid_argument);
}

TEST_CASE("a spread has the median, the extremes and the quartiles") {
  const auto spread = spread_of({5, 1, 4, 2, 3});
  REQUIRE(spread);
  CHECK(spread->median == 3);
  CHECK(spread->min == 1);
  CHECK(spread->max == 5);
  CHECK(spread->lower_quartile == 2);
  CHECK(spread->upper_quartile == 4);
  CHECK(spread->count == 5);
  CHECK_FALSE(spread_of({}));
}

TEST_CASE("a ratio is of two figures of one round") {
  const std::vector<Metrics> ours{{{"a", 10}}, {{"a", 30}}, {}, {{"a", 7}}, {{"a", 1}}};
  // The peer failed in the second round, measured zero in the fourth, and has no fifth.
  const std::vector<Metrics> peers{{{"a", 5}}, {}, {{"a", 1}}, {{"a", 0}}};
  CHECK(ratios(ours, peers, "a") == std::vector<double>{2});
  CHECK(ratios(ours, ours, "a") == std::vector<double>{1, 1, 1, 1});
  CHECK(ratios(ours, peers, "b").empty());
  CHECK(values_of(ours, "a") == std::vector<double>{10, 30, 7, 1});
}

TEST_CASE("a histogram tells times to the width of a bucket, and the longest exactly") {
  Histogram times;
  for (int time = 1; time <= 1000; ++time)
    times.add(Histogram::bucket_of(time * std::int64_t{1000}));
  times.add_maximum(1'000'000);
  CHECK(times.count() == 1000);
  CHECK(times.at(0.5) == Approx(500'000).epsilon(0.022));
  CHECK(times.at(0.99) == Approx(990'000).epsilon(0.022));
  CHECK(times.at(0) == Approx(1000).epsilon(0.022));
  CHECK(times.maximum() == 1'000'000);
  CHECK_THROWS_AS(Histogram{}.at(0.5), std::invalid_argument);
  CHECK_THROWS_AS(times.at(-0.1), std::invalid_argument);
}

TEST_CASE("histograms of several processes add up") {
  Histogram one;
  one.add(Histogram::bucket_of(100), 3);
  one.add_maximum(100);
  Histogram other;
  other.add(Histogram::bucket_of(100'000));
  other.add_maximum(100'000);
  one.add(other);
  CHECK(one.count() == 4);
  CHECK(one.at(0.75) == Approx(100).epsilon(0.022));
  CHECK(one.at(1) == Approx(100'000).epsilon(0.022));
  CHECK(one.maximum() == 100'000);
}

TEST_CASE("no time at all is in the first bucket") {
  CHECK(Histogram::bucket_of(0) == 0);
  CHECK(Histogram::bucket_of(1) == 0);
  CHECK(Histogram::bucket_of(-5) == 0);
  CHECK(Histogram::bucket_of(2) == Histogram::buckets_per_doubling);
}

TEST_CASE("everybody in turn is first in a round") {
  std::set<std::size_t> firsts;
  for (int round = 0; round < 3; ++round) {
    const std::vector<std::size_t> order = order_of_round(3, round);
    CHECK(std::set<std::size_t>{order.begin(), order.end()} == std::set<std::size_t>{0, 1, 2});
    firsts.insert(order.front());
  }
  CHECK(firsts.size() == 3);
  CHECK(order_of_round(3, 3) == order_of_round(3, 0));
  CHECK(order_of_round(0, 1).empty());
}

TEST_CASE("packets are counted where they begin, however the stream is cut") {
  // Packets of 5, 0 and 300 bytes.
  std::string stream{"\0\0\0\5abcde\0\0\0\0\0\0\1\x2c", 17};
  stream += std::string(300, 'x');
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{16}, stream.size()}) {
    PacketCounter counter;
    int packets = 0;
    for (std::size_t i = 0; i < stream.size(); i += piece)
      packets += counter.count(stream.data() + i, std::min(piece, stream.size() - i));
    INFO(piece);
    CHECK(packets == 3);
  }
}

TEST_CASE("every workload has ours first, and targets against contestants that it has") {
  std::set<std::string> names;
  for (const Workload& workload : all_workloads()) {
    INFO(workload.name);
    CHECK(names.insert(workload.name).second);
    REQUIRE_FALSE(workload.contestants.empty());
    CHECK(workload.contestants.front() == our_name);
    for (const Target& target : workload.targets) {
      if (target.peer.empty()) continue;
      CHECK(std::count(workload.contestants.begin(), workload.contestants.end(), target.peer) == 1);
    }
  }
}

}  // namespace
}  // namespace custodian::tests::statistics_test
