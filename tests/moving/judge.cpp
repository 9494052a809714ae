#include "moving/judge.hpp"

#include <algorithm>
#include <utility>

namespace custodian::tests::moving {

void Judge::begin(const std::string& owner, const std::string& path, Token token, std::int64_t time,
                  const std::string& home) {
  holds_[path].push_back({owner, token, time, 0, home});
  ++grants_;
}

void Judge::end(const std::string& owner, const std::string& path, Token token, std::int64_t time) {
  for (Hold& each : holds_[path]) {
    if (each.owner == owner && each.token == token && each.end == 0) each.end = time;
  }
}

void Judge::died(const std::string& owner, std::int64_t time) {
  for (auto& [path, holds] : holds_) {
    for (Hold& each : holds) {
      if (each.owner == owner && each.end == 0) each.end = time;
    }
  }
}

bool Judge::holds_since_before(const std::string& owner, std::int64_t time) const {
  return std::ranges::any_of(holds_, [&](const auto& holds_of_path) {
    return std::ranges::any_of(holds_of_path.second, [&](const Hold& each) {
      return each.owner == owner && each.end == 0 && each.begin < time;
    });
  });
}

void Judge::landed(const std::string& owner, const std::string& path, Token token,
                   std::int64_t sent, std::int64_t answered) {
  landed_[path].push_back({owner, token, sent, answered});
  ++writes_;
}

void Judge::refused_good(const std::string& owner, const std::string& path, Token token) {
  note("a good write refused: " + owner + " of " + path + " with " + to_string(token));
}

void Judge::wrote(const std::string& owner, const std::string& path, Token token,
                  const std::string& ensemble, std::int64_t zxid) {
  guarded_[path + " at " + ensemble][zxid] = {owner, token};
  ++guarded_writes_;
}

std::map<std::string, std::string> Judge::homes_since(std::int64_t time) const {
  std::map<std::string, std::string> homes;
  for (const auto& [path, holds] : holds_) {
    const Hold* last = nullptr;
    for (const Hold& each : holds) {
      if (each.begin >= time && (last == nullptr || each.begin > last->begin)) last = &each;
    }
    if (last != nullptr) homes[path] = last->home;
  }
  return homes;
}

void Judge::judge_holds(const std::string& path, std::vector<Hold> holds, Violations& found) {
  std::ranges::sort(holds, {}, &Hold::begin);
  const Hold* last = nullptr;  // the hold that ends last, of all so far
  for (const Hold& each : holds) {
    if (const Hold* const before = last) {
      const std::string both = before->owner + " with " + to_string(before->token) + " and " +
                               each.owner + " with " + to_string(each.token) + " of " + path;
      if (before->end == 0 || before->end > each.begin) found.push_back("two holders: " + both);
      if (before->token >= each.token) found.push_back("tokens do not grow: " + both);
    }
    if (last == nullptr || (last->end != 0 && (each.end == 0 || each.end > last->end))) {
      last = &each;
    }
  }
}

void Judge::judge_landed(const std::string& path, std::vector<Landed> all, Violations& found) {
  // A write is stale if a write with a greater token had been answered before this one was sent.
  std::vector<Landed> by_answer = all;
  std::ranges::sort(by_answer, {}, &Landed::answered);
  std::ranges::sort(all, {}, &Landed::sent);
  const Landed* greatest = nullptr;
  auto answer = by_answer.begin();
  for (const Landed& each : all) {
    for (; answer != by_answer.end() && answer->answered < each.sent; ++answer) {
      if (greatest == nullptr || greatest->token < answer->token) greatest = &*answer;
    }
    if (greatest == nullptr || greatest->token <= each.token) continue;
    found.push_back("a stale write accepted: " + each.owner + " with " + to_string(each.token) +
                    " after " + greatest->owner + " with " + to_string(greatest->token) + " of " +
                    path);
  }
}

void Judge::judge_writes(Violations& found) const {
  for (const auto& [place, writes] : guarded_) {
    Write last;
    for (const auto& [zxid, each] : writes) {
      const std::string both = last.owner + " with " + to_string(last.token) + " and " +
                               each.owner + " with " + to_string(each.token) + " of " + place;
      if (each.token < last.token) found.push_back("a stale guarded write: " + both);
      if (each.token == last.token && each.owner != last.owner) {
        found.push_back("one token of two: " + both);
      }
      if (each.token >= last.token) last = each;
    }
  }
}

std::vector<std::string> Judge::violations() const {
  Violations found;
  for (const auto& [path, holds] : holds_) judge_holds(path, holds, found);
  for (const auto& [path, all] : landed_) judge_landed(path, all, found);
  judge_writes(found);
  found.insert(found.end(), noted_.begin(), noted_.end());
  return found;
}

}  // namespace custodian::tests::moving
