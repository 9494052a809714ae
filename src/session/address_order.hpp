#pragma once

/// \file
/// AddressOrder decides which address of the servers is dialled next, and when. Pure: the caller
/// passes in addresses, times and random numbers.
///
/// - Each address that does not rest has its turn before any other has a second one. The order
///   among those that were never dialled is drawn from a seed, so that many processes spread over
///   the servers; with the same seed, all clients of a process begin at the same server.
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
  /// The rest after the first failure; doubled with each further failure in a row.
  static constexpr std::chrono::milliseconds first_rest{20};
  /// After this many doublings the rest is 1.28 s, and grows no longer.
  static constexpr int most_doublings = 6;

  /// The rest after `failures` earlier failures in a row; `random` is in [0, 1). The result is
  /// between half and one and a half of the doubled rest, so that the clients of a server do not
  /// all return at once.
  [[nodiscard]] static std::chrono::milliseconds rest(int failures, double random);
};

class AddressOrder {
 public:
  using Endpoint = boost::asio::ip::tcp::endpoint;
  using Time = std::chrono::steady_clock::time_point;

  explicit AddressOrder(std::uint64_t seed) : seed_{seed} {}

  /// Sets the addresses. An address that stays keeps its failures, its rest and its turn.
  void replace(const std::vector<Address>& addresses);
  [[nodiscard]] bool contains(const Endpoint& endpoint) const;
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

  /// Returns the address to dial now, and counts it as dialled; nothing while all rest.
  [[nodiscard]] std::optional<Address> next(Time now);
  /// Returns an address that shares a name and the port with this one, is of the other family
  /// (IPv4, IPv6) and does not rest; nothing if there is none. Does not count the result as
  /// dialled: also_dialled() does.
  [[nodiscard]] std::optional<Address> other_family(const Address& address, Time now) const;
  void also_dialled(const Endpoint& endpoint);
  /// The time until the first address has rested; 0 if one may be dialled now.
  [[nodiscard]] std::chrono::milliseconds rest(Time now) const;

  /// Called when the address gave no connection, or one that ended before any request was answered.
  void failed(const Endpoint& endpoint, Time now, double random);
  /// Makes the address rest at least until `until`, however few its failures.
  void rest_until(const Endpoint& endpoint, Time until);
  /// Called when the server at the address has worked on a request: its failures in a row end.
  void answered(const Endpoint& endpoint);

 private:
  struct Place {
    Address address;
    std::uint64_t rank = 0;       ///< the order among addresses that were never dialled
    std::uint64_t last_turn = 0;  ///< the turn in which it was dialled; 0: never
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
