#pragma once

/// \file
/// Scene is the setting of the test of a moving map: two ensembles, a register that compares
/// tokens, the places of the workers and of the mover, and the judge.
///
/// Each place has proxies of its own in front of each member of each ensemble, so that one process
/// can be cut off from one ensemble.
///
/// Threads: one. Waits have a limit, after which they throw std::runtime_error.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chaos/fenced_register.hpp"
#include "crowds/crowd.hpp"
#include "custodian/client.hpp"
#include "custodian/testing/fault_proxy.hpp"
#include "custodian/testing/testing_cluster.hpp"
#include "moving/journal.hpp"
#include "moving/judge.hpp"

namespace custodian::tests::moving {

struct Measure {
  int processes = 3;
  int paths = 60;
  int moves = 3;
  int seconds = 20;
};
/// Reads "processes,paths,moves,seconds" from CUSTODIAN_TEST_MOVING.
[[nodiscard]] Measure measure_from_environment();

/// A place at which a process runs, and its present process.
struct Place {
  std::map<std::string, std::deque<testing::FaultProxy>> lines;
  std::string process;  ///< empty: none
  bool is_free = true;  ///< no fault is under way here
  int processes = 0;
};

class Scene {
 public:
  using Clusters = std::map<std::string, std::unique_ptr<testing::TestingCluster>>;

  explicit Scene(const Measure& measure);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  [[nodiscard]] Clusters& clusters() noexcept { return clusters_; }
  [[nodiscard]] std::deque<Place>& workers() noexcept { return workers_; }
  [[nodiscard]] Place& mover() noexcept { return mover_; }
  [[nodiscard]] Judge& judge() noexcept { return judge_; }
  [[nodiscard]] Journal& journal() noexcept { return journal_; }
  [[nodiscard]] std::chrono::milliseconds session_timeout() const noexcept;
  [[nodiscard]] std::chrono::milliseconds tick() const noexcept;

  /// Starts a worker that works.
  void start_worker(Place& place);
  /// Starts a mover that moves the map to the layout of this step.
  void start_move(int step);
  void kill(Place& place);
  void signal(const Place& place, int signal);
  void tell(const Place& place, const std::string& line) { crowd_.tell(place.process, line); }
  void tell_workers(const std::string& line);

  [[nodiscard]] bool has_moved(int step) const noexcept { return moved_ == step; }
  /// Makes a worker hold a path until the order "let-go", and waits until the worker holds it.
  void keep(const Place& place, const std::string& path);
  /// Has each path acquired once. Returns the home of each path, as its holder reports it.
  std::map<std::string, std::string> visit_all();
  /// Ends the work of all workers.
  void rest();
  /// The number of nodes that the locks have at both ensembles together.
  [[nodiscard]] std::size_t nodes_left();
  /// Listens until the condition is true.
  void wait_for(const std::string& what, const std::function<bool()>& condition);
  /// Listens for `time`, and calls `meanwhile` again and again.
  void pass(std::chrono::milliseconds time, const std::function<void()>& meanwhile);

  int refused_stale = 0;
  int unwritten = 0;
  int lost = 0;
  std::int64_t longest_wait_ms = 0;

 private:
  void add_lines(Place& place);
  void start(Place& place, const std::string& name);
  void make_guarded_nodes();
  /// A client of an ensemble that nothing cuts off.
  [[nodiscard]] static Client client_of(const testing::TestingCluster& cluster);
  void note(const std::string& process, const crowds::Words& words);

  const Measure measure_;
  const std::vector<std::string> paths_;
  Clusters clusters_;
  chaos::FencedRegister register_;
  Judge judge_;
  Journal journal_;
  crowds::Crowd crowd_;
  std::deque<Place> workers_;
  Place mover_;
  unsigned seed_ = 0;
  int moved_ = -1;
  int visited_ = 0;
  int resting_ = 0;
  std::string kept_;
};

}  // namespace custodian::tests::moving
