// A Kerberos realm for a test: a key distribution centre (KDC) on loopback, with its data in a
// temporary directory. The environment of this process, and of its children, names it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "server/reserved_port.hpp"
#include "support/directory.hpp"

namespace custodian::testing {
class ChildProcess;
}

namespace custodian::tests {

/// There can be only one realm at a time. The principals are anna, bert, zookeeper/localhost,
/// zookeeper/stranger (whose key no server has) and brief, whose tickets end after `brief_life`.
/// Passwords are "secret".
class KerberosRealm {
 public:
  static constexpr std::chrono::seconds brief_life{4};
  /// Servers accept a ticket up to three seconds after its end, since clocks may differ.
  static constexpr std::chrono::seconds longest_use = brief_life + std::chrono::seconds{4};
  static constexpr const char* name = "CUSTODIAN.TEST";

  KerberosRealm();
  KerberosRealm(const KerberosRealm&) = delete;
  KerberosRealm& operator=(const KerberosRealm&) = delete;
  ~KerberosRealm();

  /// Says why there can be no realm on this machine; nothing if there can.
  [[nodiscard]] static std::optional<std::string> missing();

  /// krb5.conf, for Java.
  [[nodiscard]] std::string configuration() const { return files_.file("krb5.conf"); }
  /// The key of zookeeper/localhost.
  [[nodiscard]] std::string server_keytab() const { return files_.file("server.keytab"); }
  /// The key of this principal.
  [[nodiscard]] std::string keytab_of(const std::string& principal) const;
  /// The name of a cache of tickets, which need not exist.
  [[nodiscard]] std::string cache(const std::string& file) const {
    return "FILE:" + files_.file(file);
  }
  /// Gets a ticket, as the principal's user would. Throws std::runtime_error.
  void kinit(const std::string& principal, const std::string& cache) const;
  /// The number of times that the KDC has given this principal a ticket for a password or a key.
  [[nodiscard]] int logins_of(const std::string& principal) const;
  /// Returns whether all tickets of the cache have ended.
  [[nodiscard]] static bool has_ended(const std::string& cache);

  /// Ends the KDC, so that connections to it are refused.
  void stop();
  void start();
  /// Makes the KDC accept connections, and answer nothing.
  void pause() const;
  void resume() const;

 private:
  const Directory files_;
  const testing::ReservedPort port_{"127.0.0.1"};
  std::unique_ptr<testing::ChildProcess> kdc_;
};

}  // namespace custodian::tests
