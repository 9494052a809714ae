#pragma once

/// \file
/// Servers are the contestants' servers. Each listens on loopback, keeps its data in a directory of
/// its own, and ends when its object is destroyed.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contestants.hpp"

namespace custodian::bench {

/// A directory that the destructor removes.
class OwnDirectory {
 public:
  /// Creates the directory below `parent`.
  explicit OwnDirectory(const std::string& parent);
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;
  ~OwnDirectory();
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class Servers {
 public:
  Servers() = default;
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;
  virtual ~Servers() = default;

  /// The address of the server that the driver of this process uses. In an ensemble the drivers do
  /// not get all servers: a client of the leader is faster, so the n-th process of each contestant
  /// gets the same single server.
  [[nodiscard]] virtual std::string address(std::size_t process) const = 0;
  /// The ports of the servers; the first one is that of process 0.
  [[nodiscard]] virtual std::vector<std::uint16_t> ports() const = 0;
  /// The number of requests from all clients so far; nothing if the servers do not count them.
  [[nodiscard]] virtual std::optional<std::int64_t> requests() const { return {}; }
  /// The number of ephemeral nodes of all clients; each contender has one. Only ZooKeeper's servers
  /// know it.
  [[nodiscard]] virtual std::int64_t ephemeral_nodes() const { return 0; }
  /// The number of notices to each session so far, by its id in hexadecimal digits. A notice is a
  /// packet that answers no request of that session. Only ZooKeeper's servers know it.
  [[nodiscard]] virtual std::map<std::string, std::int64_t> notices() const { return {}; }
  /// The number of requests that have come to the servers and are not answered yet.
  [[nodiscard]] virtual std::int64_t unanswered() const { return 0; }
};

enum class Ensemble { one, three };

/// Whether the kind is one of ZooKeeper's.
[[nodiscard]] bool is_zookeeper(Kind kind);
/// Starts ZooKeeper's servers, which force their logs to the disk. Their data is below the
/// environment's TMPDIR. For those with TLS the environment's SSL_CERT_FILE is set, so that drivers
/// trust them.
[[nodiscard]] std::unique_ptr<Servers> start_zookeeper(Kind kind, Ensemble size);
/// Starts a server of another kind, with its data below `parent`. Throws std::runtime_error with
/// the end of the server's log if it does not start.
[[nodiscard]] std::unique_ptr<Servers> start_peer(Kind kind, const std::string& parent);

}  // namespace custodian::bench
