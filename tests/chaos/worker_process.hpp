#pragma once

/// \file
/// A worker as the driver sees it: a child process, and what it has said; see driver_line.hpp.
///
/// Threads: one at a time.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace custodian::chaos {

class WorkerProcess {
 public:
  /// Throws std::system_error if it cannot be started.
  WorkerProcess(std::string name, const std::string& program,
                const std::vector<std::string>& arguments);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Kills it, if it is still there, and waits until it is gone.
  ~WorkerProcess();

  struct Kept {
    std::string lock{};
    std::int64_t token = 0;
    std::string node{};
    std::int64_t session = 0;
    std::string password{};
  };
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool is_ready() const noexcept { return ready_; }
  /// The last hold that it kept since it was told to. Once one is lost, the next may be its own,
  /// too, and is kept.
  [[nodiscard]] const std::optional<Kept>& kept() const noexcept { return kept_; }
  /// Whether it said of this hold, which it kept, that it was lost.
  [[nodiscard]] bool has_lost(const Kept& kept) const { return lost_.contains(kept.token); }
  [[nodiscard]] std::uint64_t grants() const noexcept { return grants_; }
  /// The largest token that it was granted, by lock.
  [[nodiscard]] const std::map<std::string, std::int64_t>& tokens() const noexcept {
    return tokens_;
  }
  /// What its client had in the end.
  [[nodiscard]] std::optional<std::size_t> load_when_done() const noexcept { return load_; }

  void keep(const std::string& lock);
  void be_quiet() const { tell("be-quiet"); }
  void let_go();
  void finish() const { tell("finish"); }

  /// Readable when it has said something, or has ended.
  [[nodiscard]] int descriptor() const noexcept { return socket_; }
  [[nodiscard]] bool has_ended() const noexcept { return socket_ < 0; }
  /// Reads what it has said; call it when the descriptor is readable.
  void listen();

  void stop() const;
  void resume() const;
  /// SIGKILL, and waits until it is gone.
  void kill();

 private:
  void tell(const std::string& message) const;
  void understand(const std::string& line);
  void end();

  const std::string name_;
  pid_t process_ = -1;
  int socket_ = -1;
  std::string unread_;
  bool ready_ = false;
  std::optional<Kept> kept_;
  std::set<std::int64_t> lost_;  ///< tokens
  std::uint64_t grants_ = 0;
  std::map<std::string, std::int64_t> tokens_;
  std::optional<std::size_t> load_;
};

}  // namespace custodian::chaos
