#pragma once

/// \file
/// Customers are many threads that buy from a service over HTTP at once, and count its answers.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace custodian::tests::inventory {

/// The answer to one request; `status` is 0 if there was none.
struct Answer {
  unsigned status = 0;
  std::string body{};
};

/// Sends one request on a connection of its own; takes at most three seconds.
[[nodiscard]] Answer ask(std::uint16_t port, const std::string& verb, const std::string& target);

/// Customers, each in a thread, who buy a piece of a random item from a random instance, again and
/// again. The destructor stops them.
class Customers {
 public:
  Customers(int count, std::vector<std::string> items);
  Customers(const Customers&) = delete;
  Customers& operator=(const Customers&) = delete;

  /// Makes the customers buy from these instances from now on.
  void go_to(std::vector<std::uint16_t> ports);
  /// The number of times that this answer came: "sold", "busy", ...; "nobody" counts requests
  /// without an answer.
  [[nodiscard]] std::int64_t told(const std::string& result) const;
  /// Stops all customers.
  void stop();

 private:
  void buy(unsigned seed, const std::stop_token& stop);

  const std::vector<std::string> items_;
  mutable std::mutex mutex_;  ///< guards the members below
  std::vector<std::uint16_t> ports_;
  std::map<std::string, std::int64_t> told_;
  std::vector<std::jthread> threads_;
};

}  // namespace custodian::tests::inventory
