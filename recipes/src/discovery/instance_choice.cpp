#include "instance_choice.hpp"

#include <algorithm>
#include <utility>

namespace custodian::discovery_detail {

namespace {

/// FNV-1a, 64 bits.
constexpr std::uint64_t hashed(std::string_view text, std::uint64_t state) {
  for (const char each : text) {
    state ^= static_cast<unsigned char>(each);
    state *= 0x100000001B3;
  }
  return state;
}

/// The last steps of MurmurHash3: each bit of the input changes half of the output's.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCD;
  value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53;
  return value ^ (value >> 33);
}

}  // namespace

InstanceChoice::InstanceChoice(ProviderStrategy strategy, std::uint64_t seed)
    : strategy_{strategy}, chance_{seed}, turn_{chance_()} {}

InstancePtr InstanceChoice::next(const std::vector<InstancePtr>& instances) {
  if (instances.empty()) return nullptr;
  switch (strategy_) {
    case ProviderStrategy::round_robin: return instances[turn_++ % instances.size()];
    case ProviderStrategy::sticky: return same(instances);
    case ProviderStrategy::random: break;
  }
  return any(instances);
}

const InstancePtr& InstanceChoice::any(const std::vector<InstancePtr>& instances) {
  return instances[std::uniform_int_distribution<std::size_t>{0, instances.size() - 1}(chance_)];
}

const InstancePtr& InstanceChoice::same(const std::vector<InstancePtr>& instances) {
  const auto is_last = [&](const InstancePtr& each) { return each->id == last_id_; };
  const auto found = std::ranges::find_if(instances, is_last);
  if (!last_id_.empty() && found != instances.end()) return *found;
  const InstancePtr& chosen = any(instances);
  last_id_ = chosen->id;
  return chosen;
}

std::uint64_t rendezvous_score(std::string_view key, std::string_view id) noexcept {
  constexpr std::uint64_t begin = 0xCBF29CE484222325;
  return mixed(hashed(key, hashed("/", hashed(id, begin))));
}

InstancePtr instance_for(std::string_view key, const std::vector<InstancePtr>& instances) {
  const auto rank = [&](const InstancePtr& each) {
    return std::pair{rendezvous_score(key, each->id), std::string_view{each->id}};
  };
  const auto most = std::ranges::max_element(instances, {}, rank);
  return most == instances.end() ? nullptr : *most;
}

}  // namespace custodian::discovery_detail
