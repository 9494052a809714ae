#pragma once

/// \file
/// The one door to the ZooKeeper C client. Each of its awkward facts is dealt with here and known
/// nowhere else:
///
/// - The library is not thread-safe and keeps static state: every call is made under one
///   process-wide lock. No call made here blocks on the network (see close()).
/// - Its callbacks only append to a list of events, which the caller takes *after* the call:
/// nobody's
///   handler ever runs inside the library or under its lock.
/// - A send that fails inside a zoo_a* call closes the socket, says ZOK, and keeps the request
/// (maybe
///   half sent) for the *next* connection. interest() throws such leftovers away first.
/// - It ignores a new list of servers that differs from the old one by ports alone. interest()
/// insists.
/// - zoo_amulti corrupts memory when an operation of it is refused: submit() checks everything that
///   the library would check before it calls.
/// - After fork(), closing a handle in the child aborts the parent's session: in a child nothing is
///   called at all.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "custodian/session.hpp"

struct _zhandle;  // NOLINT(bugprone-reserved-identifier): the C client's own name

namespace custodian::detail {

/// What the library wants to wait for.
struct Interest {
  error_code error;     ///< look at this first
  int descriptor = -1;  ///< owned by the library; -1: only wait for the timeout
  bool read = false;
  bool write = false;
  std::chrono::milliseconds timeout{0};
};

/// What happened inside a call; in the order in which it happened.
namespace event {
struct Completed {
  std::uint64_t operation = 0;
  Reply reply;
};
struct Watched {
  std::uint64_t watch = 0;
  WatchEventType type = WatchEventType::deleted;
};
struct Logged {
  LogLevel level = LogLevel::info;
  std::string message;
};
}  // namespace event
using Event = std::variant<event::Completed, event::Watched, event::Logged>;

enum class HandleState { disconnected, connecting, connected, expired, auth_failed };

/// One handle of the C client. One thread at a time.
class CClient {
 public:
  /// `servers` are numeric addresses: "127.0.0.1:2181,::1:2181" (no brackets, no chroot), so that
  /// the library's synchronous resolver has nothing to look up.
  CClient(const std::string& servers, const SessionSettings& settings);
  CClient(const CClient&) = delete;
  CClient& operator=(const CClient&) = delete;
  ~CClient();

  [[nodiscard]] Interest interest();
  /// Does what the descriptor is ready for, until there is nothing left to read.
  void process(bool readable, bool writable);
  /// Queues a request, under a key of the caller's own that its Completed event will bear. The
  /// watch key (0: none) comes back in a Watched event; the same key twice on a path is one watch.
  [[nodiscard]] error_code submit(const Request& request, std::uint64_t operation,
                                  std::uint64_t watch);
  /// Takes a watch off the server. Completes as any operation does.
  [[nodiscard]] error_code remove_watch(const std::string& path, WatchKind kind,
                                        std::uint64_t operation);
  /// May give up a standing connection, of which state() then tells.
  void set_servers(const std::string& servers);
  /// Ends the handle. If it is connected, sends the end of the session; the library then blocks
  /// until there is something to read, so the caller makes sure that there is (or that the socket
  /// is shut down). Completes what is under way with ServerErrc::closing.
  void close();

  /// As of the end of the newest call.
  [[nodiscard]] HandleState state() const noexcept { return state_; }
  [[nodiscard]] SessionInfo session();
  [[nodiscard]] std::vector<Event> take_events();

 private:
  friend class LibraryCall;
  friend struct Callbacks;
  struct MultiResults;

  [[nodiscard]] int dispatch(const Request& request, std::uint64_t operation, std::uint64_t watch);
  [[nodiscard]] int commit(const request::Multi& multi, std::uint64_t operation);
  void take_up_changes();
  void read_state();
  /// The handle, for a call into the library: checks that its lock is held by this thread.
  [[nodiscard]] _zhandle* handle() const;

  _zhandle* handle_ = nullptr;
  const pid_t owner_;
  std::string servers_;
  std::vector<Event> events_;
  /// Results of transactions under way, by operation: the library writes into them.
  std::map<std::uint64_t, std::unique_ptr<MultiResults>> multis_;
  HandleState state_ = HandleState::disconnected;
  bool send_failed_ = false;
  bool servers_changed_ = false;
};

}  // namespace custodian::detail
