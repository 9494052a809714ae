#pragma once

/// \file
/// Customers buy from a service over HTTP, all at once, and count the answers.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace custodian::tests::inventory {

/// Of one request; status 0: nobody answered.
struct Answer {
  unsigned status = 0;
  std::string body{};
};

/// One request on a connection of its own; ends within three seconds.
[[nodiscard]] Answer ask(std::uint16_t port, const std::string& verb, const std::string& target);

/// So many customers, each in a thread; each buys a piece of some item from some instance, and then
/// the next. Ends them with its destruction.
class Customers {
 public:
  Customers(int count, std::vector<std::string> items);
  Customers(const Customers&) = delete;
  Customers& operator=(const Customers&) = delete;

  /// The instances that they buy from now on.
  void go_to(std::vector<std::uint16_t> ports);
  /// How often each answer came: "sold", "busy", ...; "nobody" when none came.
  [[nodiscard]] std::int64_t told(const std::string& result) const;
  /// No more.
  void stop();

 private:
  void buy(unsigned seed, const std::stop_token& stop);

  const std::vector<std::string> items_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::vector<std::uint16_t> ports_;
  std::map<std::string, std::int64_t> told_;
  std::vector<std::jthread> threads_;
};

}  // namespace custodian::tests::inventory
