#pragma once

/// \file
/// WorkerProcess is a worker as the driver sees it: a child process, and what it has said; see
/// driver_line.hpp.
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
  /// Throws std::system_error if it cannot be started.
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
  /// The last hold that it kept since it was ordered to. Once one is lost, the next may be its own,
  /// too, and is kept.
  [[nodiscard]] const std::optional<Kept>& kept() const noexcept { return kept_; }
  /// Whether it said of this hold, which it kept, that it was lost.
  [[nodiscard]] bool has_lost(const Kept& kept) const { return lost_.contains(kept.token); }
  [[nodiscard]] std::uint64_t grants() const noexcept { return grants_; }
  /// The largest token that it was granted, by lock.
  [[nodiscard]] const std::map<std::string, Token>& tokens() const noexcept { return tokens_; }
  /// What its client had in the end.
  [[nodiscard]] std::optional<std::size_t> load_when_done() const noexcept { return load_; }

  void keep(const std::string& lock);
  void be_quiet() const { process_.tell("be-quiet"); }
  void let_go() const { process_.tell("let-go"); }
  void finish() const { process_.tell("finish"); }

  /// Readable when it has said something, or has ended.
  [[nodiscard]] int descriptor() const noexcept { return process_.descriptor(); }
  [[nodiscard]] bool has_ended() const noexcept { return process_.has_ended(); }
  /// Reads what it has said; call it when the descriptor is readable.
  void listen();

  void stop() const { process_.send_signal(SIGSTOP); }
  void resume() const { process_.send_signal(SIGCONT); }
  /// SIGKILL, and waits until it is gone.
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
