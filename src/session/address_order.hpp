#pragma once

/// \file
/// AddressOrder decides which address of the servers is dialled next, and when. Pure: addresses,
/// times and random numbers go in.
///
/// - Each address has its turn before any has a second one. The order among those that were never
///   dialled is drawn from a seed, so that many processes spread over the servers; with the same
///   seed, all clients of a process begin at the same server.
/// - An address that fails rests, longer with each failure in a row. The others are dialled
///   meanwhile.
/// - An address whose connection is lost does not rest. It was dialled last, so the others come
///   first.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "session/address.hpp"

namespace custodian::detail {

/// How long an address rests after it has failed.
struct AddressPace {
  /// After the first failure; doubled with each further failure in a row.
  static constexpr std::chrono::milliseconds first_rest{20};
  /// After that many doublings an address rests 1.28 s, and no longer.
  static constexpr int most_doublings = 6;

  /// The rest after so many earlier failures in a row, with a `random` of [0, 1): between half and
  /// one and a half of the doubled rest, lest all clients of a server return together.
  [[nodiscard]] static std::chrono::milliseconds rest(int failures, double random);
};

class AddressOrder {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;
  using Time = std::chrono::steady_clock::time_point;

  explicit AddressOrder(std::uint64_t seed) : seed_{seed} {}

  /// The addresses from now on. What is known of those that stay is kept.
  void replace(const std::vector<Address>& addresses);
  [[nodiscard]] bool contains(const Endpoint& endpoint) const;
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

  /// The address to dial now, which counts as dialled; nothing while all rest.
  [[nodiscard]] std::optional<Address> next(Time now);
  /// An address of the same name as this one, but of the other family (IPv4, IPv6); nothing while
  /// there is none that does not rest. Counts as dialled only by also_dialled().
  [[nodiscard]] std::optional<Address> other_family(const Address& address, Time now) const;
  void also_dialled(const Endpoint& endpoint);
  /// Until the first of them has rested; 0 if there is one to dial.
  [[nodiscard]] std::chrono::milliseconds rest(Time now) const;

  /// The address gave no connection, or one that ended before any request was answered.
  void failed(const Endpoint& endpoint, Time now, double random);
  /// The address rests until then, at least, however often it has failed.
  void rest_until(const Endpoint& endpoint, Time until);
  /// A server has worked on a request there.
  void answered(const Endpoint& endpoint);

 private:
  struct Place {
    Address address;
    std::uint64_t rank = 0;       ///< the order among those that were never dialled
    std::uint64_t last_turn = 0;  ///< when it was dialled; 0: never
    int failures = 0;             ///< in a row
    Time rests_until{};
  };

  [[nodiscard]] Place* find(const Endpoint& endpoint);
  [[nodiscard]] std::uint64_t rank_of(const Endpoint& endpoint) const;

  const std::uint64_t seed_;
  std::vector<Place> places_;
  std::uint64_t turns_ = 0;
};

}  // namespace custodian::detail
