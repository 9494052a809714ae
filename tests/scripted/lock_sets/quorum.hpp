#pragma once

/// \file
/// Three ensembles, and a quorum lock on them, for the tests of QuorumLock.

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "custodian/lock_sets/quorum_lock.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::quorum {

inline constexpr auto path = "/quorum";

/// Three ensembles; the first is the world's own.
struct Ensembles {
  World world;
  testing::FakeEnsemble second{{.reconnect_pause = std::chrono::milliseconds{0}}};
  testing::FakeEnsemble third{{.reconnect_pause = std::chrono::milliseconds{0}}};
  std::array<testing::FakeEnsemble*, 3> all{&world.ensemble, &second, &third};

  /// Counts the ensembles that have at least one of these nodes.
  [[nodiscard]] std::ptrdiff_t existing(const std::set<std::string>& nodes) const {
    return std::ranges::count_if(all, [&](const auto* ensemble) {
      return std::ranges::any_of(ensemble->children(path), [&](const std::string& name) {
        return nodes.contains(std::string{path}.append("/").append(name));
      });
    });
  }
  /// Returns true if no node and no watch is left in any ensemble.
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(all, [](const auto* ensemble) {
      return ensemble->children(path).empty() && ensemble->watches() == 0;
    });
  }
};

/// A client of each ensemble, and the quorum lock on them.
class QuorumContender {
 public:
  QuorumContender(Ensembles& ensembles, const std::string& name,
                  std::chrono::nanoseconds reach = std::chrono::hours{1})
      : ensembles_{ensembles} {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string own = name + std::to_string(i);
      ClientOptions options = ensembles.world.options(own);
      options.session_factory = ensembles.all[i]->session_factory(own);
      clients_[i] = std::make_unique<Client>(ensembles.world.context.get_executor(), options);
    }
    lock_.emplace(
        std::vector<std::reference_wrapper<const Client>>{*clients_[0], *clients_[1], *clients_[2]},
        path, QuorumLockOptions{.max_unreachable = reach});
  }

  QuorumLock& operator*() { return *lock_; }
  QuorumLock* operator->() { return &*lock_; }
  Client& client(std::size_t index) { return *clients_[index]; }
  void wait_connected() {
    for (const auto& client : clients_) {
      REQUIRE(ensembles_.world.run_until([&] { return is_connected(client->connection_state()); }));
    }
  }
  Outcome<LeaseGroup> begin(AcquireOptions options = {}) {
    Outcome<LeaseGroup> outcome;
    lock_->async_acquire(std::move(options), outcome.handler());
    return outcome;
  }
  LeaseGroup acquired() {
    auto outcome = begin();
    REQUIRE(ensembles_.world.run_until_arrived(outcome));
    REQUIRE_FALSE(outcome.error());
    return std::move(outcome.result());
  }
  /// Destroys the lock and its clients. Returns false if a request is pending, or something keeps a
  /// client alive.
  bool end() {
    bool ended = true;
    for (auto& client : clients_) ended = ensembles_.world.run_until_idle(*client) && ended;
    lock_.reset();
    for (auto& client : clients_) ended = ensembles_.world.end(client) && ended;
    return ended;
  }

 private:
  Ensembles& ensembles_;
  std::array<std::unique_ptr<Client>, 3> clients_;
  std::optional<QuorumLock> lock_;
};

}  // namespace custodian::tests::quorum
