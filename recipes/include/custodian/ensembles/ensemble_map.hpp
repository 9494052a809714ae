#pragma once

/// \file
/// EnsembleMap divides paths among several ensembles: each path has one of them for its home. More
/// servers do not make the writes of an ensemble faster; more ensembles bear more locks.
///
///     const EnsembleMap map{{.depth = 2, .ensembles = {{"east", 1}, {"west", 1}}},
///                           {{"east", east}, {"west", west}}};  // a Client of each
///     map.verify("/ensembles");                                 // all processes have this map
///     auto mutex = map.make<InterProcessMutex>("/orders/4711");
///     const Lease lease = mutex.acquire();
///
/// A recipe that is made with a map is an ordinary one, on the client of its path's home, and its
/// header applies unchanged. An ensemble that is away stops the recipes that have their home there,
/// and no others. EnsembleLayout has the rule by which a path gets its home.
///
/// **All processes must have the same map**: the same layout, the same ensembles under the same
/// names, and clients with the same namespace and chroot. A process with another map finds another
/// home for some paths, and then two processes hold one lock. No server can notice that. verify()
/// notices another layout at the start of a process, but not that a name stands for other servers.
/// So do not change a map while processes run with it: end all of them, remove the nodes that
/// verify() has written, and begin anew with the new map.
///
/// Fencing: tokens of different ensembles cannot be compared. The path of a lock has one home, so
/// the tokens of one path can be compared, for as long as the map stays the same. Across a change
/// of the map, the tokens of a path can be compared if the clients of each map have the layout's
/// version as ClientOptions::fencing_epoch, and each new layout has a greater version.
///
/// A transaction goes to one ensemble: its paths, and the locks whose leases it checks, need one
/// home. Choose a depth at which these paths have the same key, or pin a path above them. For locks
/// of several homes at once there is InterProcessMultiLock.
///
/// When not to use it: before one ensemble is at its limit. One ensemble is simpler to run, and its
/// locks can be in one transaction. For one lock that outlives the loss of an ensemble: QuorumLock;
/// a map makes no lock safer, and with more ensembles one of them is away more often.
///
/// Threads: any, except for the destructor and moves. Lifetimes: recipes that were made with the
/// map may outlive it, as they may outlive their client (calls then fail with closed).

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/client_options.hpp"
#include "custodian/ensembles/ensemble_layout.hpp"
#include "custodian/export.hpp"
#include "custodian/operation_options.hpp"

namespace custodian {

/// What EnsembleMap::async_verify() has found.
struct MapVerdict {
  /// The fingerprint of this process' layout.
  std::string ours{};
  /// The fingerprint of the ensemble's layout, if it differs; otherwise empty.
  std::string theirs{};
  /// With an error: the name of the ensemble at which it occurred.
  std::string ensemble{};

  /// The difference, or the place of the error, as a sentence without a full stop: "east has the
  /// layout 09a8a7d73fab5135, and this process 5c3fd1b0aa7e2f90". Empty without an error.
  [[nodiscard]] CUSTODIAN_EXPORT std::string explain() const;
};

namespace recipes_detail {
struct EnsembleHomes;
struct MapCheck;
using MapCheckPtr = std::shared_ptr<const MapCheck>;

CUSTODIAN_EXPORT void start_verify_map(CorePtr core, CancellationPtr cancellation,
                                       MapCheckPtr check, OperationOptions options,
                                       Handler<MapVerdict> handler);
/// The client on whose strand a check runs.
[[nodiscard]] CUSTODIAN_EXPORT CorePtr core_of_check(const MapCheckPtr& check);
}  // namespace recipes_detail

/// Divides paths among several ensembles.
/// \copydetails custodian/ensembles/ensemble_map.hpp
class CUSTODIAN_EXPORT EnsembleMap {
 public:
  /// A client of each ensemble, by the ensemble's name.
  using Clients = std::map<std::string, std::reference_wrapper<const Client>>;

  /// Makes a map over clients that the program owns. The map keeps handles on them
  /// (Client::share()), so a client may be destroyed first, as with a recipe. Contacts no server.
  /// Throws Error (invalid_argument) if the layout is not valid, if an ensemble has no client or a
  /// client has no ensemble, if two names have the same client, or if a client refuses a pin's
  /// path.
  EnsembleMap(EnsembleLayout layout, const Clients& clients);
  /// Makes a map with clients of its own, with these options, by the ensembles' names. They begin
  /// to connect at once, and end with the map, as ~Client() says. Throws Error as the other
  /// constructor does, and as Client's.
  EnsembleMap(EnsembleLayout layout, const std::map<std::string, ClientOptions>& options);
  EnsembleMap(const EnsembleMap&) = delete;
  EnsembleMap& operator=(const EnsembleMap&) = delete;
  /// A moved-from map may only be destroyed, or assigned to.
  EnsembleMap(EnsembleMap&&) noexcept;
  /// Ends the clients that this map owned before.
  EnsembleMap& operator=(EnsembleMap&&) noexcept;
  ~EnsembleMap();

  /// The layout.
  [[nodiscard]] const EnsembleLayout& layout() const noexcept;
  /// The fingerprint of the layout: see EnsembleLayout::fingerprint().
  [[nodiscard]] const std::string& fingerprint() const noexcept;

  /// The name of the ensemble that is the home of `path`, a path as the clients' functions take it
  /// (below the clients' namespace). Throws Error (invalid_argument) if the path is not valid.
  [[nodiscard]] const std::string& home_of(std::string_view path) const;
  /// A handle on the client of the path's home: see Client::share(). Pass the same path to the
  /// recipe that is made with it; make() does that. Throws as home_of() does.
  [[nodiscard]] Client client_for(std::string_view path) const;
  /// A handle on the client of an ensemble, for calls that concern no path: to wait for its
  /// connection, to close it. Throws Error (invalid_argument) if the layout has no such ensemble.
  [[nodiscard]] Client client(std::string_view ensemble) const;

  /// Makes a recipe at its path's home: `Recipe(client_for(path), path, arguments...)`. Throws as
  /// home_of() and the recipe's constructor do.
  ///
  ///     auto permits = map.make<InterProcessSemaphore>("/printers/2", 5);
  template <typename Recipe, typename... Arguments>
  [[nodiscard]] Recipe make(const std::string& path, Arguments&&... arguments) const {
    return Recipe(client_for(path), path, std::forward<Arguments>(arguments)...);
  }

  /// Compares the layout with the one that other processes have. Each ensemble keeps the layout's
  /// text form at `path`, a node that has no other use: the first process writes it, and a process
  /// with another layout is refused. All ensembles are asked at once, behind a sync, and a layout
  /// that differs is reported before any other error. So an ensemble that is away (an error of
  /// another code) hides no difference elsewhere; whether to go on without it is the program's
  /// decision.
  ///
  /// If processes with different layouts begin at the same time, the check succeeds for those of
  /// one layout at the most, and perhaps for none, provided that the layouts have an ensemble in
  /// common.
  ///
  /// Completes with: error, what was found.
  /// Cancellation: total; nodes may have been written.
  /// Errors: invalid_argument (an ensemble has another layout: MapVerdict names both; nothing was
  /// written there), malformed_data (the node has no layout that this version can read; it stays as
  /// it is), no_auth, closed, and those common to all operations of a Client. Executor: the
  /// handler's, or the callback executor of the first ensemble's client.
  template <typename Token>
  auto async_verify(const std::string& path, OperationOptions options, Token&& token) const {
    recipes_detail::MapCheckPtr check = check_at(path);
    CorePtr core = recipes_detail::core_of_check(check);
    return initiate<void(error_code, MapVerdict), &recipes_detail::start_verify_map>(
        std::move(core), std::forward<Token>(token), std::move(check), options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_verify(const std::string& path, Token&& token) const {
    return async_verify(path, OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form. Throws Error, whose text has the verdict's.
  void verify(const std::string& path, OperationOptions options = {}) const;

 private:
  [[nodiscard]] recipes_detail::MapCheckPtr check_at(const std::string& path) const;

  std::unique_ptr<const recipes_detail::EnsembleHomes> homes_;
};

}  // namespace custodian
