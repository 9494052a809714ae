#pragma once

/// \file
/// Servers are the contestants' servers, each started here, on loopback, with its data in its own
/// directory, and ended with its object.

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

  /// The address for the driver of a process. Of an ensemble one server, since processes at the
  /// leader are faster: the n-th process of each contestant gets the same one.
  [[nodiscard]] virtual std::string address(std::size_t process) const = 0;
  /// The server of the first process first.
  [[nodiscard]] virtual std::vector<std::uint16_t> ports() const = 0;
  /// Requests from all clients so far, if the servers count them.
  [[nodiscard]] virtual std::optional<std::int64_t> requests() const { return {}; }
  /// Ephemeral nodes of all clients; a contender has one. ZooKeeper's only.
  [[nodiscard]] virtual std::int64_t ephemeral_nodes() const { return 0; }
  /// Notices to each session: packets that answer no request of its own. By the session's id in
  /// hexadecimal digits. ZooKeeper's only.
  [[nodiscard]] virtual std::map<std::string, std::int64_t> notices() const { return {}; }
};

enum class Ensemble { one, three };

/// ZooKeeper, its log forced to the disk. Its data is below the environment's TMPDIR.
[[nodiscard]] std::unique_ptr<Servers> start_zookeeper(Ensemble size);
/// A server of another kind, its data below `parent`. Throws std::runtime_error with the end of its
/// log if it does not come up.
[[nodiscard]] std::unique_ptr<Servers> start_peer(Kind kind, const std::string& parent);

}  // namespace custodian::bench
