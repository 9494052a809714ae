#include "crowds/ownership.hpp"

#include <algorithm>

namespace custodian::tests::crowds {

void Ownership::begin(const std::string& owner, const std::string& shard, std::int64_t token,
                      std::int64_t time) {
  holds_[shard].push_back({owner, token, time, 0});
}

void Ownership::end(const std::string& owner, const std::string& shard, std::int64_t token,
                    std::int64_t time) {
  for (Hold& each : holds_[shard]) {
    if (each.owner == owner && each.token == token && each.end == 0) each.end = time;
  }
}

void Ownership::wrote(const std::string& owner, const std::string& shard, std::int64_t token,
                      std::int64_t zxid) {
  writes_[shard][zxid] = {owner, token};
  ++count_;
}

void Ownership::died(const std::string& owner, std::int64_t time) {
  for (auto& [shard, holds] : holds_) {
    for (Hold& each : holds) {
      if (each.owner == owner && each.end == 0) each.end = time;
    }
  }
}

std::map<std::string, std::string> Ownership::owners() const {
  std::map<std::string, std::string> owners;
  for (const auto& [shard, holds] : holds_) {
    for (const Hold& each : holds) {
      if (each.end == 0) owners[shard] = each.owner;
    }
  }
  return owners;
}

std::string Ownership::violation() const {
  for (auto [shard, holds] : holds_) {
    std::ranges::sort(holds, {}, &Hold::begin);
    for (std::size_t i = 1; i < holds.size(); ++i) {
      const Hold& before = holds[i - 1];
      const Hold& next = holds[i];
      const std::string both = before.owner + " and " + next.owner + " of " + shard;
      if (before.end == 0 || before.end > next.begin) return "two owners: " + both;
      if (before.token >= next.token) return "tokens do not grow: " + both;
    }
  }
  for (const auto& [shard, writes] : writes_) {
    Write last;
    for (const auto& [zxid, each] : writes) {
      const std::string both = last.owner + " and " + each.owner + " of " + shard;
      if (each.token < last.token) return "a late write: " + both;
      if (each.token == last.token && each.owner != last.owner) return "one token: " + both;
      last = each;
    }
  }
  return {};
}

}  // namespace custodian::tests::crowds
