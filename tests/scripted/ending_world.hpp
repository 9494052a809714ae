#pragma once

/// \file
/// EndingWorld is a World that ends its clients: a client whose context is destroyed while the
/// client closes is never freed, which AddressSanitizer reports.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scripted/world.hpp"

namespace custodian::tests {

/// Destroy the clients, and all recipes on them, first.
class EndingWorld : public World {
 public:
  using World::World;
  EndingWorld(const EndingWorld&) = delete;
  EndingWorld& operator=(const EndingWorld&) = delete;
  ~EndingWorld() override {
    ensemble.set_fault_plan(nullptr);
    run_until([this] { return std::ranges::all_of(cores_, &Core::expired); });
  }

  using World::client;
  [[nodiscard]] std::unique_ptr<Client> client(ClientOptions options) override {
    auto client = World::client(std::move(options));
    cores_.emplace_back(client->core());
    return client;
  }

 private:
  using Core = std::weak_ptr<detail::ClientCore>;

  std::vector<Core> cores_;
};

}  // namespace custodian::tests
