#pragma once

/// \file
/// *Sessions* begins, replaces, retires and closes the sessions of a client.

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/connection_string.hpp"
#include "client/credential_source.hpp"
#include "custodian/client_options.hpp"
#include "custodian/lease/lease.hpp"
#include "custodian/session/session.hpp"

namespace custodian::detail {

class ClientCore;
class ClientSession;

/// The client's present session, and those that were given up and are not closed yet.
/// next_session() decides which session follows one that is over. Used on the strand only, except
/// servers().
class Sessions {
 public:
  using Credentials = std::vector<SessionSettings::Credential>;

  /// `servers` is written as in a connection string, without the chroot.
  Sessions(ClientCore& core, std::string servers, Credentials credentials);
  ~Sessions();

  /// The servers, the followed members of the ensemble included, as in a connection string without
  /// a chroot. Called on any thread.
  [[nodiscard]] std::string servers() const;

  /// The servers that the user has given.
  [[nodiscard]] std::vector<HostPort> given() const;

  void begin();
  [[nodiscard]] ClientSession& current() const noexcept { return *current_; }
  /// The client's session, if it has this id; null otherwise.
  [[nodiscard]] std::shared_ptr<ClientSession> with_id(std::int64_t id) const;
  void on_state(ClientSession& session, SessionState state, const SessionInfo& info);
  /// A server has answered a request of the present session.
  void on_answer();
  /// Replaces the session with a new one. The leases on the old session are lost. The old session
  /// is closed when the last of these leases has been released: closing it earlier would pass their
  /// locks on while their holders may still be at work.
  void give_up(ClientSession& session, LossReason reason);
  /// Gives up the session with this id, if it is still the client's.
  void end(std::int64_t id);
  /// Replaces the servers that the user has given.
  void set_servers(const std::string& servers);
  /// Replaces the followed members of the ensemble, which are servers besides those of the user.
  void set_members(std::vector<HostPort> members);
  void set_credentials(Credentials credentials);
  /// The servers refused new credentials: the session goes on with `kept`.
  void on_credentials_refused(const ClientSession& session, const Credentials& kept);
  /// Ends all sessions, and calls back when the end of the present session was sent or the grace
  /// has passed.
  void close(std::chrono::milliseconds grace, std::function<void()> done);

 private:
  /// The present session has ended this way: begins the next one.
  void replace(SessionState end);
  void begin_after(std::chrono::milliseconds pause);
  /// Begins the present session, which waits for its credentials.
  void start();
  /// Asks the credentials provider.
  void ask();
  void ask_after_pause();
  void on_provided(std::optional<Credentials> answer);
  void log_refusal(SessionState end);
  /// Passes the servers on to the sessions.
  void replace_servers();

  ClientCore& core_;
  std::shared_ptr<ClientSession> current_;
  /// The sessions that were given up, and are not closed yet.
  std::vector<std::shared_ptr<ClientSession>> retired_;
  Credentials credentials_;  ///< the credentials of the next session
  /// The credentials of the newest session that the servers have answered; the first ones, before
  /// that.
  Credentials proven_credentials_;
  Credentials begun_with_;  ///< the credentials with which the present session began
  bool answered_ = false;   ///< whether the servers have answered the present session
  bool pauses_ = false;     ///< between two sessions: the timer begins the next one
  bool waits_ = false;      ///< the present session has not begun: the provider is asked first
  /// Whether earlier credentials are of no use if the servers refuse those of the next session:
  /// there are none, or they were refused.
  bool nothing_proven_ = true;
  bool has_been_given_ = false;  ///< the provider or the user has given `credentials_`
  CredentialSource source_;
  boost::asio::steady_timer timer_;

  mutable std::mutex mutex_;  ///< guards what follows
  /// The servers that the user has given, as in a connection string without a chroot.
  std::string given_;
  std::vector<HostPort> members_;
};

}  // namespace custodian::detail
