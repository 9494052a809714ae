#pragma once

/// \file
/// WatchTable records the watches and watchers of a session. Pure: no library, no clock, no I/O.
///
/// The server keeps one watch for each path, kind and session, and so does the table: all watchers
/// of the same thing share one entry. When the last of them is cancelled, the watch must be removed
/// from the server, too, unless a request that will arm it again is under way.
///
/// After a reconnection, the C client restores all watches in one request. If that request is too
/// long, the server ends the connection, and would end each later one for the same reason. So the
/// table counts the bytes, and gives up the excess before the client reconnects: see drop_beyond().

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "custodian/session/session.hpp"

namespace custodian::detail {

class WatchTable {
 public:
  using Key = std::uint64_t;  ///< 0 is none

  /// A request that would arm a watch is about to be sent.
  [[nodiscard]] Key request_sent(const std::string& path, WatchKind kind,
                                 const std::shared_ptr<Watcher>& watcher);
  /// The reply to such a request has come, and has armed the watch if `armed`.
  void reply_received(Key key, const std::shared_ptr<Watcher>& watcher, bool armed);
  /// An event of this type has come for the path: ends the watches concerned, and returns the
  /// watchers. A deletion ends the watch on the children, too.
  [[nodiscard]] std::vector<std::shared_ptr<Watcher>> fire(const std::string& path,
                                                           WatchEventType type);
  void cancel(const std::shared_ptr<Watcher>& watcher);
  /// The session is over: returns all watchers. A watcher whose request is under way is notified by
  /// the reply.
  [[nodiscard]] std::vector<std::shared_ptr<Watcher>> clear();

  struct Removal {
    Key key = 0;
    std::string path;
    WatchKind kind = WatchKind::data;
  };
  /// Returns the watches on the server that no watcher waits for: each once, and again after
  /// removal_failed().
  [[nodiscard]] std::vector<Removal> take_removals();
  void removed(Key key);
  void removal_failed(Key key);

  /// A watch that was given up. The caller removes it from the C client's table, and makes its
  /// watchers read again.
  struct Dropped {
    std::string path;
    WatchKind kind = WatchKind::data;
    std::vector<std::shared_ptr<Watcher>> watchers;
  };
  /// Gives up watches until the rest can be restored by a request of this many bytes. Watches
  /// without a watcher go first.
  [[nodiscard]] std::vector<Dropped> drop_beyond(std::size_t bytes);
  /// The bytes of all armed watches in the request that restores them.
  [[nodiscard]] std::size_t armed_bytes() const noexcept { return armed_bytes_; }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  using What = std::pair<std::string, WatchKind>;
  /// Some sessions have tens of thousands of entries, so an entry keeps nothing twice.
  struct Entry {
    const What* what = nullptr;  ///< the key in by_path_, which stays where it is
    std::vector<std::shared_ptr<Watcher>> waiting;
    std::vector<std::shared_ptr<Watcher>> requested;
    /// The requests under way: at least requested.size(), because that of a cancelled watcher goes
    /// on.
    std::size_t requests = 0;
    bool armed = false;
    bool removing = false;

    [[nodiscard]] bool unwanted() const {
      return armed && !removing && requests == 0 && waiting.empty();
    }
    [[nodiscard]] bool idle() const { return !armed && !removing && requests == 0; }
  };

  void settle(Key key);
  void set_armed(Entry& entry, bool armed);
  [[nodiscard]] std::vector<std::shared_ptr<Watcher>> end(const std::string& path, WatchKind kind);

  std::unordered_map<Key, Entry> entries_;
  std::map<What, Key> by_path_;
  std::unordered_map<const Watcher*, Key> by_watcher_;
  std::vector<Key> unwanted_;
  std::size_t armed_bytes_ = 0;
  Key next_ = 1;
};

}  // namespace custodian::detail
