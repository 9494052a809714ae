#pragma once

/// \file
/// ClientOptions say how a client connects and behaves. A plain struct: set what differs from the
/// defaults.

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "custodian/acl.hpp"
#include "custodian/clock.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/lease_options.hpp"
#include "custodian/log.hpp"
#include "custodian/retry_policy.hpp"
#include "custodian/sasl_options.hpp"
#include "custodian/session/session.hpp"
#include "custodian/tls_options.hpp"

namespace custodian {

class Observer;

/// The options of a Client. Each field has a default; docs/defaults.md has them in a table, with
/// the reasons.
struct ClientOptions {
  /// The servers to connect to: "host:port,host:port/chroot". IPv6 literals are in brackets; a port
  /// that is left out is 2181. The chroot is put before every path, as in ZooKeeper's own clients.
  /// "secure://" at the beginning of the string asks for TLS, as `tls` does.
  std::string servers{};

  /// Whether the client also connects to members of the ensemble that `servers` does not name. The
  /// client reads the members from /zookeeper/config, again whenever a reconfiguration changes
  /// them, and uses them as if `Client::set_servers()` had added them. `servers` stay in the list,
  /// whatever the configuration says, and must suffice for the first connection. Observers are left
  /// out, since they may need a longer `touch_interval`. docs/operating.md says how the addresses
  /// are read, and when this option is of use.
  bool follow_ensemble = false;

  /// With `follow_ensemble`: the port of members whose configuration does not name the port for
  /// clients like this one. For a client with TLS, these are all members before ZooKeeper 3.10; for
  /// a client without TLS, those whose static configuration has a `clientPort`. Nothing: the port
  /// of `servers`, if all of them have the same one; otherwise such members are left out.
  std::optional<std::uint16_t> member_port{};

  /// The namespace: a path that is put before every path, like a chroot, and created as needed;
  /// "app" or "/team/app".
  std::string name_space{};

  /// When a client was silent for this long, the servers end its session, and its locks pass on.
  /// Servers clip the value to [minSessionTimeout, maxSessionTimeout], 4 s to 40 s unless
  /// configured. With a short timeout, a crashed holder is replaced soon; with a long one, a slow
  /// network or a paused process costs no lock. The default is kazoo's; with Curator's 60 s,
  /// waiters wait that long for a crashed holder.
  std::chrono::milliseconds session_timeout{10'000};

  /// How long a server may take to report to its leader that it has heard from a session: half the
  /// servers' tickTime, plus slack. The default suits ZooKeeper's default tick of 2 s. Locks need a
  /// session timeout of at least three touch intervals; otherwise a holder could not be notified of
  /// a loss in time.
  std::chrono::milliseconds touch_interval{1'500};

  /// When a lease counts as lost. The options of a lock or of an acquire may override this.
  LossPolicy loss_policy = LossPolicy::on_lease_expiry;

  /// The first part of every fencing token, compared before the others. Raise it when the ensemble
  /// has been rebuilt from nothing, since its transaction numbers then start again.
  std::int64_t fencing_epoch = 0;

  /// How long a server's address may take to accept the connection, TLS and a ticket for SASL
  /// included; and after that, how long the server may take to answer the session's handshake and
  /// to authenticate the client. When either time has passed, the client tries the next address.
  std::chrono::milliseconds connect_timeout{3'000};

  /// The deadline of every operation that has none of its own; it includes waiting for a
  /// connection. The default is longer than the default session timeout, so that an operation does
  /// not give up while the session can be saved.
  std::chrono::milliseconds operation_timeout{15'000};

  /// The retries after failures that change nothing (see `ErrorCondition::retryable`), and after
  /// lost replies to operations that may be repeated.
  RetryPolicy retry{};

  /// A proof of the client's identity. See ZooKeeper's "addauth".
  struct Credential {
    std::string scheme{};  ///< the scheme, such as "digest"
    std::string value{};   ///< the proof, such as "user:password"
  };
  /// The credentials that the client presents to every server. Client::set_credentials() replaces
  /// them.
  std::vector<Credential> credentials{};

  /// Returns the credentials that the client presents from now on, for credentials that change
  /// while the client lives. The client keeps the newest answer, and the one before until the
  /// servers have accepted the newest. A provider takes the place of `credentials`, which must be
  /// empty.
  ///
  /// Called before each session begins, the first one included, and again after each reconnection
  /// of a session, at most once a second. Not called before a session that goes back to earlier
  /// credentials because the servers refused newer ones. A new session waits for the answer. An
  /// established session does not wait: if the answer differs from the one before, the client
  /// passes it to the session as Client::set_credentials() does.
  ///
  /// Threads: the callback executor; one call at a time. A call that blocks delays the other
  /// callbacks, the notifications of lost leases among them. So a provider that asks a remote store
  /// does so beforehand, on a thread of its own, and returns the newest credentials that it has. No
  /// call begins after close(); a call that is running then may end after the client is destroyed.
  ///
  /// Errors: an exception, or an answer that would be invalid as `credentials`, is logged
  /// (`LogLevel::error`, without the values). The client goes on with the answer before. Without an
  /// answer, the client begins no session, and asks again every second; operations wait for the
  /// session as for a connection.
  using CredentialsProvider = std::function<std::vector<Credential>()>;
  /// See CredentialsProvider. Empty: `credentials` are presented.
  CredentialsProvider credentials_provider{};

  /// The options of TLS. Nothing: connections are plain, unless `servers` begins with "secure://",
  /// which stands for TlsOptions with their defaults.
  std::optional<TlsOptions> tls{};

  /// The options of SASL: Kerberos, or DIGEST-MD5. Nothing: connections are not authenticated by
  /// SASL.
  std::optional<SaslOptions> sasl{};

  /// Chooses the ACL of each node that is created without one. Empty: such nodes are open to every
  /// client, which is ZooKeeper's default.
  AclProvider acl_provider{};

  /// The client's name for people who look at a lock's nodes: the data of every node that a recipe
  /// creates and that has no value of its own. Empty: "host/process id".
  std::string identity{};

  /// The sink for the client's log lines. Empty: lines are discarded.
  LogSink log{};

  /// Receives the events of acquires, leases, retries and the connection, for metrics: see
  /// observer.hpp.
  std::shared_ptr<Observer> observer{};

  /// The executor on which listeners, stop callbacks, log sinks, the observer, and handlers without
  /// an executor of their own run. Default: a thread of the client's own, or the executor that the
  /// client was given. None of them runs on the client's strand, so a slow callback cannot cost the
  /// session. Of all user code, only `acl_provider`, a mirror's `accept`, and the functions of
  /// `tls` may run there.
  std::optional<boost::asio::any_io_executor> callback_executor{};

  /// The size in bytes up to which the servers accept a request: their `jute.maxbuffer`, 1 MiB - 1
  /// by default. The client refuses a larger request, which a server would answer by dropping the
  /// connection. After a reconnection, the client restores its watches in one request of at most
  /// half this size; nodes whose watches do not fit are read again.
  std::size_t max_request_size = 0xfffff;

  /// How many locks with `LockOptions::keep_idle_for` the client remembers: those that it holds or
  /// keeps, and those that it has used in the last minute. If there are more, a lock that was not
  /// used for long is given back. Each lock costs some 6 kB of memory, and a watch on the servers.
  /// 0: no lock is kept.
  std::size_t max_kept_locks = 1'000;

  /// Makes sessions, for tests. Empty: sessions that talk to ZooKeeper servers.
  SessionFactory session_factory{};

  /// The clock of leases, for tests in which a lease is lost without waiting. Empty: BootClock.
  std::shared_ptr<Clock> clock{};
};

/// Throws Error (invalid_argument), naming the mistake, if an option is wrong.
CUSTODIAN_EXPORT void validate(const ClientOptions& options);

}  // namespace custodian
