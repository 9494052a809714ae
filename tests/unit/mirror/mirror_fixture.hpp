#pragma once

/// \file
/// MirrorFixture is a mirror of "/m" that is in sync with the nodes that a test has made, and has
/// reported them.

#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "unit/mirror/mirror_player.hpp"

namespace custodian::tests {

using Told = std::vector<std::string>;

struct MirrorFixture {
  explicit MirrorFixture(std::vector<std::string> paths, MirrorOptions options = {})
      : player{std::move(options)} {
    for (const std::string& path : paths) player.server.create(path);
    player.connect();
    player.settle();
    CHECK(player.violation == "");
    CHECK(player.difference() == "");
    reads = std::exchange(player.reads, 0);
    player.told.clear();
  }
  ~MirrorFixture() { CHECK(player.violation == ""); }
  MirrorFixture(const MirrorFixture&) = delete;
  MirrorFixture& operator=(const MirrorFixture&) = delete;

  /// Goes on until nothing is left to do, and returns the changes that are reported meanwhile.
  Told settle() {
    player.settle();
    CHECK(player.difference() == "");
    return std::exchange(player.told, {});
  }
  Told resync() {
    player.connect();
    return settle();
  }

  MirrorPlayer player;
  int reads = 0;  ///< the number of reads that the first walk took
};

/// Takes the next read, which must be this one.
inline recipes_detail::MirrorReadId next(recipes_detail::MirrorTree& tree, const std::string& path,
                                         MirrorRead what) {
  const auto read = tree.next_read();
  REQUIRE(read);
  CHECK(read->path == path);
  CHECK(read->id.what == what);
  return read->id;
}

}  // namespace custodian::tests
