#pragma once

/// \file
/// WorkerProcess is a worker as the driver sees it: a child process, and the messages that it has
/// sent (driver_line.hpp).
///
/// Threads: one at a time.

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "child_process/child_process.hpp"
#include "token.hpp"

namespace custodian::chaos {

class WorkerProcess {
 public:
  /// Starts the worker. Throws std::system_error if that fails.
  WorkerProcess(std::string name, const std::string& program,
                const std::vector<std::string>& arguments);

  struct Kept {
    std::string lock{};
    Token token{};
    std::string node{};
    std::int64_t session = 0;
    std::string password{};
  };
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool is_ready() const noexcept { return ready_; }
  /// The last hold that the worker has kept since it was ordered to keep a lock. If that hold is
  /// lost, and the worker is granted the lock again, the worker keeps the new hold, too.
  [[nodiscard]] const std::optional<Kept>& kept() const noexcept { return kept_; }
  /// Returns whether the worker has reported the loss of this kept hold.
  [[nodiscard]] bool has_lost(const Kept& kept) const { return lost_.contains(kept.token); }
  [[nodiscard]] std::uint64_t grants() const noexcept { return grants_; }
  /// The largest token that the worker was granted, by lock.
  [[nodiscard]] const std::map<std::string, Token>& tokens() const noexcept { return tokens_; }
  /// The number of requests and watches that the worker's client had in the end.
  [[nodiscard]] std::optional<std::size_t> load_when_done() const noexcept { return load_; }

  void keep(const std::string& lock);
  void be_quiet() const { process_.tell("be-quiet"); }
  void let_go() const { process_.tell("let-go"); }
  void finish() const { process_.tell("finish"); }

  /// Readable when the worker has sent a message, or has ended.
  [[nodiscard]] int descriptor() const noexcept { return process_.descriptor(); }
  [[nodiscard]] bool has_ended() const noexcept { return process_.has_ended(); }
  /// Reads the worker's messages. To be called when the descriptor is readable.
  void listen();

  void stop() const { process_.send_signal(SIGSTOP); }
  void resume() const { process_.send_signal(SIGCONT); }
  /// Sends SIGKILL, and waits until the worker is gone.
  void kill() { process_.kill(); }

 private:
  void understand(const std::string& line);

  const std::string name_;
  testing::ChildProcess process_;
  bool ready_ = false;
  std::optional<Kept> kept_;
  std::set<Token> lost_;
  std::uint64_t grants_ = 0;
  std::map<std::string, Token> tokens_;
  std::optional<std::size_t> load_;
};

}  // namespace custodian::chaos
