#pragma once

/// \file
/// MirrorScene is a world with a mirror of "/m", and a listener whose changes are replayed.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "custodian/authoring/path.hpp"
#include "custodian/mirror/tree_cache.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// Replays the changes of a mirror, and notes the first change that does not fit.
class Replay {
 public:
  void apply(const MirrorChange& change) {
    const std::string path = change.node     ? change.node->path
                             : change.before ? change.before->path
                                             : std::string{};
    told.push_back(std::string{to_string(change.kind)} + (path.empty() ? "" : " " + path));
    const auto known = nodes.find(path);
    const MirroredNodePtr before = known == nodes.end() ? nullptr : known->second;
    if (before != change.before) complain(told.back() + " does not fit what was there");
    if (change.kind == MirrorChangeKind::synced) return;
    if (!change.node) {
      nodes.erase(path);
    } else {
      nodes[path] = change.node;
    }
  }
  void complain(const std::string& what) {
    if (violation.empty()) violation = what;
  }

  std::map<std::string, MirroredNodePtr> nodes;
  std::vector<std::string> told;
  std::string violation;
};

/// Compares a mirror of everything below a path with the ensemble, and the replayed changes with
/// the mirror. Returns what differs.
inline std::string difference(testing::FakeEnsemble& ensemble, const Mirror& mirror,
                              const Replay& replay) {
  const MirrorSnapshotPtr snapshot = mirror.snapshot();
  if (!replay.violation.empty()) return replay.violation;
  if (replay.nodes.size() != snapshot->size()) return "the changes give another number of nodes";
  std::vector<std::string> expected;
  const auto collect = [&](const auto& again, const std::string& path) -> void {
    expected.push_back(path);
    for (const std::string& name : ensemble.children(path)) again(again, join(path, name));
  };
  if (ensemble.exists(mirror.path())) collect(collect, mirror.path());
  if (snapshot->size() != expected.size()) {
    return std::to_string(snapshot->size()) + " nodes instead of " +
           std::to_string(expected.size());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const MirroredNodePtr& node = snapshot->nodes()[i];
    if (node->path != expected[i]) return node->path + " instead of " + expected[i];
    const auto replayed = replay.nodes.find(node->path);
    if (replayed == replay.nodes.end() || replayed->second != node) {
      return "the changes do not give " + node->path;
    }
    const Reply there = ensemble.operate(request::Get{node->path});
    if (there.data != node->data) return "other data of " + node->path;
    if (there.stat.czxid != node->stat.czxid) return "another node: " + node->path;
    if (there.stat.mzxid != node->stat.mzxid) return "an earlier write of " + node->path;
  }
  return {};
}

struct MirrorScene {
  explicit MirrorScene(MirrorOptions options = {}, ClientOptions client_options = {},
                       std::vector<std::string> paths = {"/m", "/m/a", "/m/b"}) {
    for (const std::string& path : paths) world.make(path, "data of " + path);
    const ClientOptions basic = world.options("mine");
    client_options.servers = basic.servers;
    client_options.session_factory = basic.session_factory;
    client_options.retry = basic.retry;
    client_options.operation_timeout = basic.operation_timeout;
    client_options.session_timeout = basic.session_timeout;
    client_options.log = [this](LogLevel, std::string_view line) { lines.emplace_back(line); };
    client = world.client(client_options);
    mirror.emplace(*client, "/m", std::move(options));
    subscription = mirror->on_change([this](const MirrorChange& change) { replay.apply(change); });
  }
  ~MirrorScene() {
    mirror.reset();
    if (client) CHECK(world.run_until_idle(*client));
    CHECK(world.ensemble.watches() == 0);
    CHECK(world.end(client));
    CHECK(replay.violation == "");
  }
  MirrorScene(const MirrorScene&) = delete;
  MirrorScene& operator=(const MirrorScene&) = delete;

  [[nodiscard]] bool runs_until(MirrorState state) {
    return world.run_until([&] { return mirror->state() == state; });
  }
  /// Runs until the mirror equals the ensemble's tree.
  [[nodiscard]] bool follows() {
    const bool is_there = world.run_until([&] {
      return mirror->state() == MirrorState::synced &&
             difference(world.ensemble, *mirror, replay).empty();
    });
    world.settle();
    return is_there;
  }
  void write(const std::string& path, std::string data) {
    world.ensemble.operate(request::Set{path, std::move(data)});
  }
  [[nodiscard]] std::size_t requests() const { return world.ensemble.history().size(); }
  /// The number of the client's log lines that contain this text.
  [[nodiscard]] std::ptrdiff_t lines_with(std::string_view text) const {
    return std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }

  std::vector<std::string> lines;
  World world;
  std::unique_ptr<Client> client;
  Replay replay;
  std::optional<TreeCache> mirror;
  Subscription subscription;
};

}  // namespace custodian::tests
