#pragma once

/// \file
/// The shards that processes of a crowd share.

#include <string>
#include <vector>

namespace custodian::tests::crowds {

inline std::vector<std::string> names_of_shards() {
  std::vector<std::string> names;
  for (int shard = 0; shard < 64; ++shard) names.push_back("s" + std::to_string(shard));
  return names;
}

}  // namespace custodian::tests::crowds
