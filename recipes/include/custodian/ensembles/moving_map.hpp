#pragma once

/// \file
/// MovingMap divides paths among several ensembles, as EnsembleMap does, and may be changed while
/// processes run: a path's home moves from one ensemble to another while its lock is held and
/// waited for.
///
///     MovingMap map{{{"east", east}, {"west", west}}};  // a Client of each
///     map.move_to({.depth = 2, .ensembles = {{"east", 1}, {"west", 1}}});  // one process, once
///     MovingMutex mutex{map, "/orders/4711"};
///     const MovingLease lease = mutex.acquire();
///
/// Each ensemble has a copy of the map, and its members: the sessions that may hold locks there. A
/// change is published in steps; each step waits until all members have announced the previous
/// version, or are gone. Holders that never release do not keep a move from ending: their locks
/// take the new home in addition. docs/moving-map.md has the protocol, what it promises, and where
/// it ends.
///
/// **All locks of the paths that move must be acquired through the map.** A client without the map,
/// Curator's for instance, knows one home: pin the paths that it uses, and do not move them.
/// MovingMutex is the only lock that moves: semaphores, read/write locks and all other recipes are
/// for paths that stay where they are.
///
/// While a path moves, both homes are needed: if either is out of reach, the path's lock cannot be
/// acquired. Paths cannot be moved away from an ensemble that is dead.
///
/// This class is new, and its fault tests have run for fewer hours than those of the other locks:
/// guard what matters with fencing tokens, as ever.
///
/// When not to use it: with one ensemble; where all processes can be stopped for a change
/// (EnsembleMap, which asks the servers in verify() only).
///
/// Threads: any, except for the destructor and moves. The map's work runs on the first client (by
/// the ensembles' names): when that is closed, acquires on the map end with closed, wherever their
/// paths are. Lifetimes: mutexes and leases may outlive the map, and the clients may be destroyed
/// first (acquires then fail with closed). A lease that outlives the map still follows its path to
/// a new home. The execution contexts of all clients must outlive the map, its acquires and its
/// leases.
///
/// Close all clients of the map together, or none: a process that closes one client and goes on
/// with the others is still a member at their ensembles, but may announce nothing any more, and
/// keeps later moves waiting.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/ensembles/ensemble_layout.hpp"
#include "custodian/ensembles/ensemble_map.hpp"
#include "custodian/export.hpp"

namespace custodian {

namespace recipes_detail {
class MapFollower;
using MapFollowerPtr = std::shared_ptr<MapFollower>;

CUSTODIAN_EXPORT void start_move_to(CorePtr core, CancellationPtr cancellation,
                                    MapFollowerPtr follower, EnsembleLayout layout,
                                    std::chrono::milliseconds look_every, Handler<> handler);
}  // namespace recipes_detail

/// The options of a MovingMap. All processes need the same path.
struct MovingMapOptions {
  /// The path of the copy at each ensemble: a node that has no other use.
  std::string path = "/custodian/map";
  /// A member announces a new version after a random part of this time, so that not all clients
  /// write at once.
  std::chrono::milliseconds announce_within{2000};
  /// How often move_to() looks for members that have not announced a version.
  std::chrono::milliseconds look_every{1000};
};

/// Divides paths among several ensembles, and moves them.
/// \copydetails custodian/ensembles/moving_map.hpp
class CUSTODIAN_EXPORT MovingMap {
 public:
  /// A client of each ensemble, by the ensemble's name.
  using Clients = EnsembleMap::Clients;

  /// Makes a map over clients that the program owns. Pass the clients of later layouts' ensembles,
  /// too: a layout need not use all of them. The map keeps handles on the clients
  /// (Client::share()), and begins to follow the copies. Throws Error (invalid_argument) if there
  /// is no client, if two names have the same client, if a name is not a valid name of an ensemble,
  /// if a client's fencing_epoch is negative or has more than 32 bits, or if the path is not valid.
  explicit MovingMap(const Clients& clients, MovingMapOptions options = {});
  MovingMap(const MovingMap&) = delete;
  MovingMap& operator=(const MovingMap&) = delete;
  /// A moved-from map may only be destroyed, or assigned to.
  MovingMap(MovingMap&&) noexcept;
  /// Moves as the constructor does.
  MovingMap& operator=(MovingMap&&) noexcept;
  ~MovingMap();

  /// The version of the map that this process knows: 3 * g for generation g, 3 * g + 1 and 3 * g +
  /// 2 while paths move on to generation g + 1. 0 before the map was seen.
  [[nodiscard]] std::int64_t version() const;
  /// The newest layout that this process knows, which may be one to which paths still move; its
  /// version is the number of its generation. Nothing before the map was seen.
  [[nodiscard]] std::optional<EnsembleLayout> layout() const;
  /// The names of the ensembles at which an acquire of this path takes the lock: the home of the
  /// path; while the path moves, its old home and its new one. Empty before the map was seen.
  /// Throws Error (invalid_argument) if the path is not valid.
  [[nodiscard]] std::vector<std::string> homes_of(std::string_view path) const;

  /// Moves all paths to their homes by this layout, whose `version` is ignored. Creates the map if
  /// there is none. The process needs a client of each ensemble of the present layout and of this
  /// one, and all of them must answer. A move of another process that is under way is completed
  /// first. If a process ends while it moves the map, another may call this function, with any
  /// layout: the call first completes the move that was begun. Several processes may call it at
  /// once; the last layout stays.
  ///
  /// A move takes as long as the slowest member takes to announce it twice, or to be gone. The call
  /// completes when all copies are stable and had this layout at some moment since the call. There
  /// is no deadline: cancel the call instead. Steps that were published stay, and a later move
  /// completes them.
  ///
  /// Completes with: error.
  /// Cancellation: total.
  /// Errors: invalid_argument (there is no client of an ensemble, or the copies are of two maps;
  /// the log says which), malformed_data (a copy that this version cannot read), no_auth,
  /// request_too_large (the layouts of all generations are one node's data), closed. Throws Error
  /// (invalid_argument) if the layout is not valid.
  /// Executor: the handler's, or the callback executor of the first ensemble's client.
  template <typename Token>
  auto async_move_to(EnsembleLayout layout, Token&& token) {
    layout.check();
    return initiate<void(error_code), &recipes_detail::start_move_to>(
        core(), std::forward<Token>(token), follower_, std::move(layout), look_every_);
  }
  /// The blocking form of async_move_to(). `stop` cancels it. Throws Error.
  void move_to(EnsembleLayout layout, std::stop_token stop = {});

  /// For authors of recipes: this process' part in the map.
  [[nodiscard]] const recipes_detail::MapFollowerPtr& follower() const noexcept {
    return follower_;
  }

 private:
  [[nodiscard]] CorePtr core() const;

  recipes_detail::MapFollowerPtr follower_;
  std::chrono::milliseconds look_every_;
};

}  // namespace custodian
