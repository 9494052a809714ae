#include "session/address_order.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace custodian::detail {

using std::chrono::milliseconds;

milliseconds AddressPace::rest(int failures, double random) {
  const milliseconds doubled = first_rest * (1 << std::min(failures, most_doublings));
  const auto jitter = random * static_cast<double>(doubled.count());
  return doubled / 2 + milliseconds{static_cast<milliseconds::rep>(jitter)};
}

void AddressOrder::replace(const std::vector<Address>& addresses) {
  std::vector<Place> places;
  places.reserve(addresses.size());
  for (const Address& address : addresses) {
    const Place* known = find(address.endpoint);
    Place place =
        known != nullptr ? *known : Place{.address = address, .rank = rank_of(address.endpoint)};
    place.address = address;
    places.push_back(std::move(place));
  }
  places_ = std::move(places);
}

bool AddressOrder::contains(const Endpoint& endpoint) const {
  return std::ranges::any_of(
      places_, [&](const Place& place) { return place.address.endpoint == endpoint; });
}

std::optional<Address> AddressOrder::next(Time now) {
  Place* best = nullptr;
  for (Place& place : places_) {
    if (place.rests_until > now) continue;
    const auto order = [](const Place& each) { return std::tie(each.last_turn, each.rank); };
    if (best == nullptr || order(place) < order(*best)) best = &place;
  }
  if (best == nullptr) return std::nullopt;
  best->last_turn = ++turns_;
  return best->address;
}

std::optional<Address> AddressOrder::other_family(const Address& address, Time now) const {
  const auto is_name_of = [&](const std::string& name) {
    return std::ranges::find(address.names, name) != address.names.end();
  };
  for (const Place& place : places_) {
    const Address& other = place.address;
    if (place.rests_until > now || other.endpoint.port() != address.endpoint.port()) continue;
    if (other.endpoint.protocol() == address.endpoint.protocol()) continue;
    if (std::ranges::any_of(other.names, is_name_of)) return other;
  }
  return std::nullopt;
}

void AddressOrder::also_dialled(const Endpoint& endpoint) {
  if (Place* place = find(endpoint)) place->last_turn = ++turns_;
}

milliseconds AddressOrder::rest(Time now) const {
  if (places_.empty()) return milliseconds{0};
  const auto first = std::ranges::min(places_, {}, &Place::rests_until).rests_until;
  return first <= now ? milliseconds{0} : std::chrono::ceil<milliseconds>(first - now);
}

void AddressOrder::failed(const Endpoint& endpoint, Time now, double random) {
  if (Place* place = find(endpoint)) {
    place->rests_until = now + AddressPace::rest(place->failures++, random);
  }
}

void AddressOrder::rest_until(const Endpoint& endpoint, Time until) {
  if (Place* place = find(endpoint)) place->rests_until = std::max(place->rests_until, until);
}

void AddressOrder::answered(const Endpoint& endpoint) {
  if (Place* place = find(endpoint)) place->failures = 0;
}

AddressOrder::Place* AddressOrder::find(const Endpoint& endpoint) {
  const auto found = std::ranges::find_if(
      places_, [&](const Place& place) { return place.address.endpoint == endpoint; });
  return found == places_.end() ? nullptr : &*found;
}

std::uint64_t AddressOrder::rank_of(const Endpoint& endpoint) const {
  // FNV-1a over the address and the port, mixed with the seed: the rank of an address does not
  // depend on the others, so a list that is read again keeps its order.
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed_;
  const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const char each : to_text(endpoint)) mix(static_cast<unsigned char>(each));
  // The highest bits decide the order, so the last bytes must reach them.
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33);
}

}  // namespace custodian::detail
