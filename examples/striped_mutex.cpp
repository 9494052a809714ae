// Ten sellers sell a stock of 100 twice: under one mutex, and then in five segments of 20 with a
// mutex each, where a seller takes any free segment. Prints the holds per second of both runs.
//
//   custodian-example-striped_mutex 127.0.0.1:2181

#include "custodian/locks/striped_mutex.hpp"

#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "custodian/client.hpp"

using namespace std::chrono_literals;

namespace {

constexpr std::size_t pieces = 100;
constexpr std::size_t sellers = 10;

class Stock {
 public:
  Stock(const std::string& servers, std::size_t segments)
      : servers_{servers},
        client_{servers},
        path_{"/examples/stock-" + std::to_string(segments)},
        segments_{segments} {
    for (std::size_t i = 0; i < segments; ++i) {
      client_.create(segment(i), std::to_string(pieces / segments),
                     {.parents = custodian::Parents::created_as_containers});
    }
  }
  ~Stock() { client_.remove(path_, {.descendants = custodian::Descendants::are_removed}); }
  Stock(const Stock&) = delete;
  Stock& operator=(const Stock&) = delete;

  /// Lets all sellers sell their part, and returns the holds per second.
  double sell_out() {
    const auto begin = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < sellers; ++i) threads.emplace_back([this] { sell_part(); });
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return holds_ / took.count();
  }

  [[nodiscard]] int left() {
    int left = 0;
    for (std::size_t i = 0; i < segments_; ++i) left += std::stoi(client_.get(segment(i)).data);
    return left;
  }

 private:
  [[nodiscard]] std::string segment(std::size_t index) const {
    return path_ + "/left/" + std::to_string(index);
  }

  /// Sells a tenth of the pieces, from any segment. Each seller has a session of its own, as if it
  /// were a process.
  void sell_part() {
    custodian::Client client{servers_};
    custodian::StripedMutex mutex{client, path_ + "/locks", segments_};
    for (std::size_t sold = 0; sold < pieces / sellers;) {
      const custodian::StripeLease any = mutex.acquire_any();
      ++holds_;
      if (sell_one(client, segment(any.index), any.lease)) ++sold;
    }
  }

  /// Sells one piece of a segment, if the lease is still held. Returns false if the segment is sold
  /// out.
  static bool sell_one(custodian::Client& client, const std::string& node,
                       const custodian::Lease& lease) {
    const int left = std::stoi(client.get(node).data);
    if (left == 0) return false;
    std::this_thread::sleep_for(5ms);  // the customer pays
    client.commit({lease.check(), custodian::set(node, std::to_string(left - 1))});
    return true;
  }

  const std::string servers_;
  custodian::Client client_;
  const std::string path_;
  const std::size_t segments_;
  std::atomic<int> holds_ = 0;
};

double sell_in(const std::string& servers, std::size_t segments) {
  Stock stock{servers, segments};
  const double rate = stock.sell_out();
  std::cout << "sold from " << segments << ", " << stock.left() << " left\n";
  return rate;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const double one = sell_in(argv[1], 1);
    const double five = sell_in(argv[1], 5);
    std::cout << "one mutex: " << one << " holds/s; 5 stripes: " << five << " holds/s, "
              << five / one << " times as many\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
