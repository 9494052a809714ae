#pragma once

/// \file
/// The servers that contestants talk to, each started here, on loopback, with its data in a
/// directory of its own, and gone with its object.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contestants.hpp"

namespace custodian::bench {

/// A directory that is gone with its object.
class OwnDirectory {
 public:
  /// Below `parent`.
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

  /// As the driver of a process is told. Of an ensemble one server, or those who happen to reach
  /// the leader would be faster: the processes of each contestant go to the same ones.
  [[nodiscard]] virtual std::string address(std::size_t process) const = 0;
  /// That of the first process first.
  [[nodiscard]] virtual std::vector<std::uint16_t> ports() const = 0;
  /// Requests that they have had from all clients, if they count them.
  [[nodiscard]] virtual std::optional<std::int64_t> requests() const { return {}; }
  /// Nodes that end with their sessions, of all clients; a contender has one. ZooKeeper's only.
  [[nodiscard]] virtual std::int64_t ephemeral_nodes() const { return 0; }
  /// Notices that each session was sent: whatever answered no request of its own. By the session's
  /// id in hexadecimal digits. ZooKeeper's only.
  [[nodiscard]] virtual std::map<std::string, std::int64_t> notices() const { return {}; }
};

enum class Ensemble { one, three };

/// ZooKeeper, its log forced to the disk. Its data is below the environment's TMPDIR.
[[nodiscard]] std::unique_ptr<Servers> start_zookeeper(Ensemble size);
/// One of another kind, its data below `parent`. Throws std::runtime_error with the end of its log
/// if it does not come up.
[[nodiscard]] std::unique_ptr<Servers> start_peer(Kind kind, const std::string& parent);

}  // namespace custodian::bench
