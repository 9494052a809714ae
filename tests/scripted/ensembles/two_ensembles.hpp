#pragma once

/// \file
/// Two ensembles, "east" and "west", and processes with a client of each, for the tests of
/// EnsembleMap.

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "custodian/ensembles/ensemble_map.hpp"
#include "scripted/cancel_moment.hpp"
#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::two_ensembles {

/// The ensemble of the world is "east".
struct Ensembles {
  /// The world ends its clients before the other ensemble ends.
  testing::FakeEnsemble west{{.reconnect_pause = std::chrono::milliseconds{0}}};
  EndingWorld world;
  std::array<testing::FakeEnsemble*, 2> all{&world.ensemble, &west};

  ~Ensembles() { west.set_fault_plan(nullptr); }

  [[nodiscard]] std::unique_ptr<Client> client(std::size_t ensemble, const std::string& name) {
    ClientOptions options = world.options(name);
    options.session_factory = all.at(ensemble)->session_factory(name);
    return world.client(std::move(options));
  }
  /// The data of a node; nothing if it does not exist.
  [[nodiscard]] std::optional<std::string> data(std::size_t ensemble, const std::string& path) {
    const Reply reply = all.at(ensemble)->operate(request::Get{path});
    if (reply.error) return std::nullopt;
    return reply.data;
  }
  void make(std::size_t ensemble, const std::string& path, std::string data) {
    all.at(ensemble)->operate(
        request::Create{.path = path, .data = std::move(data), .acl = open_acl()});
  }
};

/// A layout with both ensembles, of equal weight, and a pin for each.
[[nodiscard]] inline EnsembleLayout even_layout() {
  return {.depth = 2,
          .ensembles = {{"east", 1}, {"west", 1}},
          .pins = {{"/at-east", "east"}, {"/at-west", "west"}}};
}
/// The same layout, but with other weights.
[[nodiscard]] inline EnsembleLayout uneven_layout() {
  EnsembleLayout layout = even_layout();
  layout.ensembles["west"] = 2;
  return layout;
}

/// What happened at one of the ensembles in a play: which requests failed, and when the operation
/// was cancelled.
[[nodiscard]] inline std::string disturbance_at(
    std::size_t ensemble, const Faults& faults,
    const std::optional<std::pair<CancelMoment, std::size_t>>& cancel) {
  std::string text = ensemble == 0 ? "; at east" : "; at west";
  for (const auto& [at, fault] : faults) {
    text += "; request " + std::to_string(at) + ": " + tests::describe(fault);
  }
  if (cancel) {
    text += "; cancelled at " + std::to_string(cancel->second) + ", moment " +
            std::to_string(static_cast<int>(cancel->first));
  }
  return text;
}

/// A process: its clients are called `name`-east and `name`-west.
struct Process {
  Process(Ensembles& ensembles, const std::string& name,
          const EnsembleLayout& layout = even_layout())
      : east{ensembles.client(0, name + "-east")},
        west{ensembles.client(1, name + "-west")},
        map{layout, {{"east", *east}, {"west", *west}}} {}

  /// Ends both clients. Returns false if something keeps one alive.
  bool end(Ensembles& ensembles) {
    const bool is_idle =
        ensembles.world.run_until_idle(*east) && ensembles.world.run_until_idle(*west);
    { const EnsembleMap gone = std::move(map); }
    return ensembles.world.end(east) && ensembles.world.end(west) && is_idle;
  }

  std::unique_ptr<Client> east;
  std::unique_ptr<Client> west;
  EnsembleMap map;
};

}  // namespace custodian::tests::two_ensembles
