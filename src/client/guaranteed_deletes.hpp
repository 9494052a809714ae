#pragma once

/// \file
/// GuaranteedDeletes deletes nodes that must go, whatever happens to the connection: the nodes of
/// released locks, and of acquires that were given up. It repeats a delete at the pace of the
/// client's retry policy, until the server says that the node is gone, or the session that owns the
/// node is over. A delete that the servers refuse (no_auth, not_empty) is not repeated: if the
/// present session owns the node, the client ends that session. Used on the strand only.

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "client/queued_node.hpp"
#include "custodian/error.hpp"
#include "custodian/session/session.hpp"

namespace custodian::detail {

class ClientCore;

class GuaranteedDeletes {
 public:
  explicit GuaranteedDeletes(ClientCore& core) : core_{core} {}

  /// `path` is the path on the server. `session` owns the node; 0 if none does. `keep` and
  /// `in_line` are kept until the node is gone. If `in_line` is given and has a successor, the node
  /// is deleted only while the successor's node exists, or after the successor's owner was notified
  /// that the successor's node is gone. (Without that check, if an ACL forbids it, or if both paths
  /// are too large for one request.)
  void add(std::string path, std::int64_t session, std::shared_ptr<void> keep = {},
           QueuedNodePtr in_line = {});
  [[nodiscard]] bool has(const std::string& path) const { return pending_.contains(path); }
  /// The most deletes that resume() has under way at once. A client that keeps a thousand locks may
  /// have a thousand pending deletes, and a server that has just come up may have a hundred such
  /// clients.
  static constexpr std::size_t most_resumed = 64;

  /// Called when there is a connection. Sends the deletes before anything else; if there are very
  /// many, the later ones follow on the answers.
  void resume();
  /// The servers have ended this session, and its nodes with it: drops its deletes. Not called for
  /// a session that was given up: the servers may still keep its nodes, which would block other
  /// contenders. Those deletes go on until an answer says that the node is gone.
  void session_over(std::int64_t session);
  /// The client is closed: its sessions end, and their ephemeral nodes with them.
  void clear() noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return pending_.size(); }

 private:
  struct Pending {
    std::int64_t session = 0;
    std::uint64_t turn = 0;  ///< the order of add()
    QueuedNodePtr in_line{};
    bool in_flight = false;
    bool resumed = false;  ///< this delete counts in `resumed_`
    int attempts = 0;
    int retries = 0;
    std::unique_ptr<boost::asio::steady_timer> timer{};  ///< until the next try
    std::shared_ptr<void> keep{};
  };

  void attempt(const std::string& path, Pending& pending);
  void resume_next();
  void on_reply(const std::string& path, const QueuedNodePtr& checked, const Reply& reply);
  void settle(const std::string& path, const QueuedNodePtr& checked, const Reply& reply);
  void tell_retried(const std::string& path, const Pending& pending, const error_code& error,
                    std::chrono::milliseconds pause) const;
  void try_again(const std::string& path);

  ClientCore& core_;
  std::map<std::string, Pending> pending_;  ///< by path
  std::uint64_t next_turn_ = 0;
  std::map<std::uint64_t, std::string> to_resume_;  ///< the paths, by turn
  std::size_t resumed_ = 0;                         ///< how many resumed deletes are under way
};

}  // namespace custodian::detail
