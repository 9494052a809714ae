#pragma once

/// \file
/// CuratorsNodes is a process with Curator's caches, persistent nodes and groups, at the same path
/// as a client of ours.
///
///   keep <path> <data>               a PersistentNode, ephemeral; answers when it is there
///   drop <path>                      closes it
///   join <group> <id> <payload>      a GroupMember
///   leave <id>
///   members <id>                     result: "id=payload" of each member that this one knows
///   cache <kind> <path>              begins to mirror, in a session of its own; a kind is curator,
///                                    tree or children
///   uncache <kind>
///   tree <kind>                      result: "path=data@czxid" of each node that the cache knows
///   load <kind> <path> <number>      begins to mirror, and waits until the cache has <number>
///                                    nodes; result: the microseconds, and the bytes that the heap
///                                    has grown by
///   expire <kind>                    gives the cache's session up

#include <string>
#include <string_view>

#include "curator.hpp"
#include "support/test_client.hpp"

namespace custodian::tests {

struct CuratorsNodes {
  /// The servers as our client reaches them, and as Curator's process does.
  explicit CuratorsNodes(std::string_view test, const std::string& ours = connect_string(),
                         const std::string& theirs = connect_string())
      : client{test, ours}, driver{peer(), theirs + client.root()}, curators{driver, "curator"} {
    // The client's root is a chroot for Curator, and must exist.
    client->create("/here");
  }

  static Peer peer() {
    Peer peer = curator();
    peer.name = "Curator's nodes";
    peer.arguments_before.back() = "CuratorNodes";
    return peer;
  }

  TestClient client;
  Driver driver;
  Session curators;
};

}  // namespace custodian::tests
