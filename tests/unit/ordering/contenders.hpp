#pragma once

/// \file
/// Names of contenders, and judgements of their places in words.

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ordering/contender_order.hpp"

namespace custodian::tests::contenders {

using namespace custodian::recipes_detail;

inline const std::string uuid_a = "0a1b2c3d-0000-4000-8000-000000000001";
inline const std::string uuid_b = "0a1b2c3d-0000-4000-8000-000000000002";
inline const std::string hex_a = "0a1b2c3d000040008000000000000001";
inline const std::string a_lock = "_c_" + uuid_a + "-lock-";
inline const std::string b_lock = "_c_" + uuid_b + "-lock-";
inline const std::string writer = "_c_" + uuid_a + "-__WRIT__";
inline const std::string reader = "_c_" + uuid_b + "-__READ__";

inline std::vector<std::string> names_of(const Listing& listing) {
  std::vector<std::string> names;
  for (const auto& contender : listing.contenders()) {
    names.emplace_back(contender.name);
  }
  return names;
}

/// Puts a judgement into words, so that tables are readable.
inline std::string in_words(const Judgement& judgement) {
  struct Words {
    std::string operator()(const Held&) const { return "held"; }
    std::string operator()(const Wait& wait) const {
      return "wait at " + std::to_string(wait.position) + " for " + std::string{wait.nearest.name};
    }
    std::string operator()(const OwnNodeMissing&) const { return "missing"; }
    std::string operator()(const Exhausted& it) const {
      return "exhausted " + std::string{it.name};
    }
    std::string operator()(const Malformed& it) const {
      return "malformed " + std::string{it.name};
    }
  };
  return std::visit(Words{}, judgement);
}

inline std::string judged(std::vector<std::string> children, const NamingRule& rule,
                          std::string_view mine) {
  const Listing listing{std::move(children), rule};
  return in_words(judge(listing, mine));
}

}  // namespace custodian::tests::contenders
