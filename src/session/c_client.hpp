#pragma once

/// \file
/// CClient is the only code that calls the ZooKeeper C client. The C client's quirks are handled
/// here, and no other code knows them:
///
/// - The C client is not thread-safe and keeps static state: every call is made under one
///   process-wide lock. No call made here blocks on the network (see close()).
/// - Its callbacks only append to a list of events, which the caller takes *after* the call: no
///   handler ever runs inside the C client or under its lock.
/// - hand_over() gives the C client established connections: its own way to connect tries half of
///   an even number of addresses, and its TLS checks no name.
/// - A send that fails inside a zoo_a* call closes the socket, says ZOK, and keeps the request
///   (maybe half sent) for the *next* connection. hand_over() throws such leftovers away first.
/// - The C client reports each change of the connection to each different watcher, in quadratic
///   time. So it gets one watcher, and CClient distinguishes events by their paths.
/// - zoo_amulti corrupts memory when it refuses one of its operations. So submit() first checks
///   everything that the C client would check.
/// - zoo_add_auth puts its packet in front of those that are still to be sent, of which the first
///   may be half sent: present() is called only when nothing is left to be sent.
/// - The C client writes each request to the socket in two parts. So submit() corks the socket, and
///   the next interest() sends all requests that were submitted meanwhile in as few packets as they
///   fit in.
/// - The C client trusts its server: process() lets it read only what Inbox has checked.
/// - After fork(), closing a handle in the child aborts the parent's session: in a child nothing is
///   called at all.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "custodian/session/session.hpp"
#include "session/cork.hpp"
#include "session/handle_state.hpp"
#include "session/inbox.hpp"

struct _zhandle;  // NOLINT(bugprone-reserved-identifier): the C client's own name

namespace custodian::detail {

class CMulti;

/// The descriptor and timeout that the C client waits for.
struct Interest {
  error_code error;     ///< to be checked first
  int descriptor = -1;  ///< owned by the C client; -1: only wait for the timeout
  bool read = false;
  bool write = false;
  std::chrono::milliseconds timeout{0};
};

/// The events that happened during a call into the C client, in their order.
namespace event {
struct Completed {
  std::uint64_t operation = 0;
  Reply reply;
};
struct Watched {
  std::string path;
  WatchEventType type = WatchEventType::deleted;
};
struct Logged {
  LogLevel level = LogLevel::info;
  std::string message;
};
}  // namespace event
using Event = std::variant<event::Completed, event::Watched, event::Logged>;

/// Whether a request arms a watch.
enum class Arms : bool { nothing, a_watch };

/// A watch in the C client's own table.
struct KnownWatch {
  std::string path;
  WatchKind kind = WatchKind::data;
};

/// One handle of the C client. Used by one thread at a time.
class CClient {
 public:
  /// Throws Error if the C client gives no handle.
  explicit CClient(const SessionSettings& settings);
  CClient(const CClient&) = delete;
  CClient& operator=(const CClient&) = delete;
  ~CClient();

  /// Continues or begins the session on a connected socket, of which the C client gets a duplicate.
  /// `server` is the server's address, for the log. Called only without a connection. After an
  /// error, there is still no connection, and another socket may be handed over.
  [[nodiscard]] error_code hand_over(int socket, std::string server);
  /// Sends what was submitted, and returns what the C client waits for. Called only with a
  /// connection, or during its handshake.
  [[nodiscard]] Interest interest();
  /// Does what the descriptor is ready for. Reads a limited number of replies; the descriptor stays
  /// readable if there are more.
  void process(bool readable, bool writable);
  /// Judges a whole frame that will arrive next, in parts; see Inbox. After a refusal, the next
  /// process() ends the connection.
  [[nodiscard]] bool accepts_ahead(std::string_view frame);
  /// Queues a request, which the next interest() sends at the latest. `operation` is a key of the
  /// caller's choice, which the request's Completed event bears. The watch that the request arms
  /// fires as a Watched event; two requests on one path arm one watch.
  [[nodiscard]] error_code submit(const Request& request, std::uint64_t operation, Arms arms);
  /// Removes a watch from the server. Completes as any operation does.
  [[nodiscard]] error_code remove_watch(const std::string& path, WatchKind kind,
                                        std::uint64_t operation);
  /// Presents a credential on this connection, and on all that follow. Called only while connected,
  /// and when interest() does not want to write: the C client puts the credential in front of the
  /// packets that are still to be sent, of which the first may be half sent.
  [[nodiscard]] error_code present(const SessionSettings::Credential& credential);
  /// Removes watches from the C client's own table, so that the C client does not restore them on
  /// the next connection. Called only without a connection.
  void forget_watches(const std::vector<KnownWatch>& watches);
  /// Called when other code waits for the socket from now on: any byte must make it readable.
  void stop_reading();
  /// Ends the handle. A connected handle sends the end of the session; the C client then blocks
  /// until there is something to read, so the caller makes sure that there is (or that the socket
  /// is shut down). Completes the operations under way with ServerErrc::closing.
  void close();

  /// Whether there is a connection, or one whose handshake is under way.
  [[nodiscard]] bool has_connection() const noexcept {
    return state_ == HandleState::greeting || state_ == HandleState::connected;
  }
  /// The state at the end of the newest call.
  [[nodiscard]] HandleState state() const noexcept { return state_; }
  /// Whether the server has answered anything but the handshake on this connection.
  [[nodiscard]] bool has_answer() const noexcept { return inbox_.has_answer(); }
  /// See ReplyCheck::take_want_of_authentication().
  [[nodiscard]] bool take_want_of_authentication() noexcept {
    return inbox_.take_want_of_authentication();
  }
  [[nodiscard]] SessionInfo session();
  [[nodiscard]] std::vector<Event> take_events();
  /// Whether an event of the newest connection was lost, for want of memory in most cases. If it
  /// was the event of a watch, the C client has forgotten the watch.
  [[nodiscard]] bool has_lost_event() const noexcept { return note_lost_; }

 private:
  friend class LibraryCall;
  friend struct Callbacks;

  [[nodiscard]] int dispatch(const Request& request, std::uint64_t operation, Arms arms);
  [[nodiscard]] int commit(const request::Multi& multi, std::uint64_t operation);
  /// Replaces the C client's socket by this one; the C client then sends the handshake.
  [[nodiscard]] error_code exchange_socket(int socket);
  /// Makes the C client clear its queues. After an error, the leftovers of a failed send are still
  /// there.
  [[nodiscard]] error_code forget_leftovers();
  void read_state();
  [[nodiscard]] bool is_reading() const;
  void read_replies();
  /// Ends the connection before anything more is read from it.
  void hang_up();
  void hang_up(std::string_view fault);
  /// Returns the handle for a call into the C client; asserts that this thread holds the C client's
  /// lock.
  [[nodiscard]] _zhandle* handle() const;

  _zhandle* handle_ = nullptr;
  const pid_t owner_;
  std::string server_;  ///< the address of the newest connection's server
  std::vector<Event> events_;
  Inbox inbox_;
  /// The C client's socket; valid only while is_reading().
  int descriptor_ = -1;
  Cork cork_;  ///< of that socket
  /// Results of transactions under way, by operation: the C client writes into them.
  std::map<std::uint64_t, std::unique_ptr<CMulti>> multis_;
  HandleState state_ = HandleState::disconnected;
  bool send_failed_ = false;
  /// A callback could not append its event, so the connection must end.
  bool note_lost_ = false;
  bool logs_ = true;  ///< whether the lines of the C client's log are passed on
};

}  // namespace custodian::detail
