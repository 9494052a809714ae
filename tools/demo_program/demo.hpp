#pragma once

/// \file
/// Demo runs the demo: a server, workers, one of them killed, and a summary that is right or not.

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
  std::string servers{};    ///< empty: one of our own
  std::string directory{};  ///< empty: a temporary one
  std::string worker_program{};
};

/// SIGINT or SIGTERM has come.
struct Interrupted {};

class Demo {
 public:
  explicit Demo(Settings settings);
  ~Demo();

  /// Whether all is right.
  [[nodiscard]] bool run();

 private:
  void start_workers();
  void follow_workers();
  void kill_the_one_inside();
  void draw();
  /// Reads what the workers say within a moment.
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
  std::unique_ptr<testing::TestingServer> server_;  ///< null: somebody else's
  std::string root_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<InterProcessMutex> mutex_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  std::optional<Kill> kill_;
  bool taken_over_ = false;  ///< as far as it was seen
  long fired_before_ = 0;
};

}  // namespace custodian::demo
