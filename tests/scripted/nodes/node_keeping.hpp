#pragma once

/// \file
/// A client with persistent nodes over an in-memory ensemble.

#include <algorithm>

#include "custodian/nodes/persistent_ttl_node.hpp"
#include "scripted/ending_world.hpp"
#include "support/catch.hpp"

namespace custodian::tests {

/// A world with one client, which keeps a node at `path`.
struct NodeKeeping {
  using State = PersistentNodeState;
  static constexpr auto path = "/services/a";

  explicit NodeKeeping(const std::string& name = "keeper") : client{world.client(name)} {}

  PersistentNode keep(std::string data = "d", PersistentNodeOptions options = {}) {
    return PersistentNode{*client, path, std::move(data), std::move(options)};
  }
  bool until(const PersistentNode& node, State state) {
    return world.run_until([&] { return node.state() == state; });
  }
  /// The node as the servers have it; the data are "-" if there is none.
  Reply look(const std::string& at = path) {
    Reply reply = world.ensemble.operate(request::Get{at});
    if (reply.error) reply.data = "-";
    return reply;
  }
  bool until_data(const std::string& data) {
    return world.run_until([&] { return look().data == data; });
  }
  bool close(PersistentNode& node) {
    const auto closed =
        run<bool>(world, [&](auto done) { node.async_close(Deadline::never(), done); });
    REQUIRE(closed.arrived());
    return closed.arrived() && !closed.error() && closed.result();
  }
  std::size_t writes() {
    return static_cast<std::size_t>(
        std::ranges::count_if(world.ensemble.history(), [](const Submission& each) {
          return each.kind == "create" || each.kind == "set" || each.kind == "remove" ||
                 each.kind == "multi";
        }));
  }
  std::int64_t session() { return client->session().id; }

  EndingWorld world;
  std::unique_ptr<Client> client;
};

}  // namespace custodian::tests
