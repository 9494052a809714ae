#pragma once

/// \file
/// Who watches what, by our own count. Pure: no library, no clock, no I/O.
///
/// The C client knows a watch by a path, a function and a context; the server knows one for each
/// path and session. So everybody here who watches the same thing shares one entry, and its key is
/// the library's context: never a pointer. When the last of them loses interest, the watch must
/// come off the server, too, unless a request that will arm it again is under way.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "custodian/session.hpp"

namespace custodian::detail {

class WatchTable {
 public:
  using Key = std::uint64_t;  ///< 0 is none

  /// A request that would arm a watch is about to be sent.
  [[nodiscard]] Key request_sent(const std::string& path, WatchKind kind,
                                 const std::shared_ptr<Watcher>& watcher);
  /// Its reply has come, and has armed the watch or has not.
  void reply_received(Key key, const std::shared_ptr<Watcher>& watcher, bool armed);
  /// The event has come; these were waiting for it.
  [[nodiscard]] std::vector<std::shared_ptr<Watcher>> fire(Key key);
  void cancel(const std::shared_ptr<Watcher>& watcher);
  /// The session is over: everybody who was waiting. Whose request is under way learns it from the
  /// reply.
  [[nodiscard]] std::vector<std::shared_ptr<Watcher>> clear();

  struct Removal {
    Key key = 0;
    std::string path;
    WatchKind kind = WatchKind::data;
  };
  /// Watches on the server that nobody wants any more. Each is given out once, until
  /// removal_failed.
  [[nodiscard]] std::vector<Removal> take_removals();
  void removed(Key key);
  void removal_failed(Key key);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string path;
    WatchKind kind = WatchKind::data;
    std::vector<std::shared_ptr<Watcher>> waiting;
    std::vector<std::shared_ptr<Watcher>> requested;
    std::size_t requests = 0;  ///< at least requested.size(): a cancelled one is still under way
    bool armed = false;
    bool removing = false;

    [[nodiscard]] bool unwanted() const {
      return armed && !removing && requests == 0 && waiting.empty();
    }
    [[nodiscard]] bool idle() const { return !armed && !removing && requests == 0; }
  };

  void settle(Key key);

  std::unordered_map<Key, Entry> entries_;
  std::map<std::pair<std::string, WatchKind>, Key> by_path_;
  std::unordered_map<const Watcher*, Key> by_watcher_;
  std::vector<Key> unwanted_;
  Key next_ = 1;
};

}  // namespace custodian::detail
