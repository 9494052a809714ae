#pragma once

/// \file
/// Troubles plays faults to the processes and ensembles of a scene, and undoes each of them after a
/// while.

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "moving/scene.hpp"

namespace custodian::tests::moving {

enum class Trouble {
  kill_worker,  ///< kills a worker; another worker starts in its place
  short_cut,    ///< a process does not reach an ensemble, for less than its session timeout
  long_cut,     ///< the same, for more than its session timeout
  stop_worker,  ///< a process stands still, for more than its session timeout
  kill_server,  ///< kills a server, which then starts again
};
constexpr int kinds_of_trouble = 5;

class Troubles {
 public:
  explicit Troubles(Scene& scene) : scene_{scene} {}

  /// Plays a trouble after this time; all kinds have their turn.
  void plan_next(std::chrono::milliseconds delay);
  /// Kills the mover after this time, if it still moves the map to this step; another mover goes
  /// on.
  void plan_end_of_mover(std::chrono::milliseconds delay, int step);
  /// Cuts a process off from an ensemble until its session there has ended, and for longer than a
  /// move takes that does not wait for the process.
  void cut_off(Place& place, const std::string& ensemble);
  /// Begins and undoes the troubles that are due.
  void tick();
  /// Whether all planned troubles are over.
  [[nodiscard]] bool is_over();
  int kills = 0;  ///< of workers and movers
  int cuts = 0;
  int stops = 0;
  int server_kills = 0;

 private:
  using Clock = std::chrono::steady_clock;

  void begin(Trouble kind);
  void kill_worker();
  void kill_mover(int step);
  void cut_any(std::chrono::milliseconds length);
  void cut(Place& place, const std::string& ensemble, std::chrono::milliseconds length);
  void stop_worker();
  /// Ends the fault of a process that was continued at this time, as soon as it has reported its
  /// losses.
  void free_later(Place& place, std::int64_t went_on);
  void kill_server();
  void after(std::chrono::milliseconds delay, std::function<void()> action);
  /// The place of a worker without a present fault; null if there is none.
  [[nodiscard]] Place* any_free_worker();
  [[nodiscard]] std::chrono::milliseconds past_session_timeout() const;

  Scene& scene_;
  std::mt19937 random_{1};
  int next_ = 0;
  std::multimap<Clock::time_point, std::function<void()>> due_;
};

}  // namespace custodian::tests::moving
