#pragma once

/// \file
/// Demo runs the demo: a server, workers of which one is killed, and a summary that passes or
/// fails.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_mutex.hpp"
#include "custodian/testing/testing_server.hpp"
#include "display.hpp"
#include "worker_process.hpp"

namespace custodian::demo {

struct Settings {
  int workers = 8;
  int increments = 25;
  bool kill = true;
  std::chrono::milliseconds hold{10};
  std::chrono::milliseconds session_timeout{3000};
  std::chrono::milliseconds tick{500};
  std::chrono::seconds time_limit{300};
  std::string servers{};    ///< the servers to use; if empty, the demo starts one
  std::string directory{};  ///< if empty, a temporary directory
  std::string worker_program{};
};

/// Thrown when SIGINT or SIGTERM has arrived.
struct Interrupted {};

class Demo {
 public:
  explicit Demo(Settings settings);
  ~Demo();

  /// Runs the demo, and returns whether all claims hold.
  [[nodiscard]] bool run();

 private:
  void start_workers();
  void follow_workers();
  /// Allows each worker its last increment.
  void let_finish();
  void kill_the_one_inside();
  void draw();
  /// Waits a moment for messages of the workers, and reads them.
  void listen();
  void check_time() const;
  [[nodiscard]] bool all_ready() const;
  [[nodiscard]] bool all_ended() const;
  [[nodiscard]] long increments_done() const;
  [[nodiscard]] long fired_watches() const;
  [[nodiscard]] std::chrono::milliseconds tick() const;
  [[nodiscard]] bool summarise();
  [[nodiscard]] std::string file(const char* name) const;

  struct Kill {
    int worker = 0;
    BootClock::time_point at{};
    int increments_done = 0;
    std::chrono::milliseconds session_timeout{0};
  };

  Settings settings_;
  Deadline deadline_;
  Display display_;
  std::filesystem::path directory_;
  std::unique_ptr<testing::TestingServer> server_;  ///< null if the user named servers
  std::string root_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<InterProcessMutex> mutex_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  bool may_finish_ = false;
  std::optional<Kill> kill_;
  bool taken_over_ = false;  ///< true once the demo has seen the takeover
  long fired_before_ = 0;
};

}  // namespace custodian::demo
