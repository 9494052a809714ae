#pragma once

/// \file
/// MirrorPlayer is a mirror tree with a simulated server, and checks what must hold after each
/// step: every known fact is covered by a watch or a read, and the changes so far give the tree.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mirror/mirror_tree.hpp"
#include "unit/mirror/simulated_server.hpp"

namespace custodian::tests {

class MirrorPlayer {
 public:
  explicit MirrorPlayer(MirrorOptions options = {}, std::string root = "/m");

  /// The session begins, and the tree may read.
  void connect() {
    connected_ = true;
    tree.connected();
    check();
  }
  /// Sends the reads that are due.
  void send_reads();
  /// Lets the server answer one of the requests.
  void serve(int place = 0);
  /// Delivers the next message.
  void deliver();
  /// Breaks the connection: the messages under way are lost, and the session goes on at another
  /// server. `dropped` watches are not restored.
  void reconnect(std::size_t dropped = 0);
  /// Ends the session. A part of the messages under way still arrives.
  void lose_session();
  /// Goes on until there is nothing left to do.
  void settle();

  /// The paths of the server's nodes that the mirror must know.
  [[nodiscard]] std::vector<std::string> visible() const;
  /// Compares the mirror with the server. Returns what differs.
  [[nodiscard]] std::string difference() const;

  SimulatedServer server;
  recipes_detail::MirrorTree tree;
  std::deque<PlannedRead> requests;  ///< sent, and not served yet
  std::vector<std::string> told;     ///< the changes, as "added /m/a"; "replaced" by another node
  std::string violation;             ///< the first rule that was broken
  int reads = 0;
  bool may_repeat = false;  ///< a node may come again, since permissions come and go

 private:
  struct Kept {
    MirrorReadId id;
    WatchedThing thing;
    bool on_absence = false;
  };
  using Place = std::pair<recipes_detail::MirrorNodes::Index, WatchKind>;

  void complain(const std::string& what) {
    if (violation.empty()) violation = what;
  }
  void on_reply(SimulatedServer::Message message);
  void on_event(const SimulatedServer::Message& message);
  void after_step();
  void apply(const MirrorChange& change);
  void check();
  void check_fact(const std::string& path, WatchKind kind);
  void check_doubt(const std::string& path);
  [[nodiscard]] bool event_is_coming(const WatchedThing& thing) const;
  void collect(const std::string& path, std::size_t level, std::vector<std::string>& all) const;

  const MirrorOptions options_;
  const std::string root_;
  bool connected_ = false;
  std::uint32_t session_ = 0;
  std::map<Place, Kept> kept_;
  std::multiset<WatchedThing> watched_;
  std::map<std::string, MirroredNodePtr> replayed_;
  std::set<std::pair<std::string, std::int64_t>> ever_added_;
  std::int64_t seen_ = 0;
};

}  // namespace custodian::tests
