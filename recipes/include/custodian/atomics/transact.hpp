#pragma once

/// \file
/// transact() reads several nodes, computes, and writes, as if nobody else wrote meanwhile: etcd's
/// STM in ZooKeeper's words. The function that it is given reads and writes through a view; then
/// one transaction checks the versions of all that was read, and writes. If another client has
/// written one of these nodes the function is called again.
///
/// \code
/// custodian::transact(client, [](custodian::TransactionView& view) {
///   const int from = std::stoi(view.get("/accounts/from").value());
///   const int to = std::stoi(view.get("/accounts/to").value());
///   view.set("/accounts/from", std::to_string(from - 10));
///   view.set("/accounts/to", std::to_string(to + 10));
/// });
/// \endcode
///
/// The function may be called several times, so it must do nothing but use its view. What it reads
/// comes from the server that the client is connected to, which may be behind, and two reads may
/// not fit together: then it is called again. So it must not fail for good because of what it sees;
/// throw, and nothing is written.
///
/// **A node that is deleted and created anew** begins with version 0 again. If its version then
/// happens to be the one that was read, the check passes: do not delete nodes that transact() uses,
/// or let each of their values tell what it is. (`DistributedAtomicLong` with
/// `Settle::exactly_once` has a witness against this.)
///
/// **A node that is not there**: that is checked by creating and removing it in the transaction, so
/// its parent must exist; who watches the parent's children is woken.
///
/// When not to use it: for one number (DistributedAtomicLong); under a lock that everybody acquires
/// (then `client.commit({lease.check(), ...})` will do); for many nodes, or large ones, since all
/// operations are one request.
///
/// Threads: a call has its own view, which belongs to its function and must not outlive it.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "custodian/atomics/update_options.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"

namespace custodian {

/// How transact() tries again, and what it does about a lost reply.
struct TransactOptions {
  /// How often, and after which pauses, it tries again when another client has written.
  RetryPolicy contention = UpdateOptions::default_contention();
  /// `left_to_caller`: a lost reply ends it with connection_loss, and the transaction was applied
  /// or not. `exactly_once`: it finds out. The transaction also creates an ephemeral node of its
  /// own name, which says so. It is deleted afterwards; but after a lost reply it stays until the
  /// session ends, since the servers may still come to the lost transaction, and refuse it then.
  /// Unknown remains only what its session has not outlived, and what its caller has given up.
  Settle settle = Settle::left_to_caller;
  /// For `exactly_once`: the node below which that one is created; it must exist, and permit to
  /// create and delete children.
  std::string witness_below{};
  /// Of all of it, the function's reads included. Default: `ClientOptions::operation_timeout` from
  /// the call.
  Deadline deadline{};
};

class TransactionView;

namespace recipes_detail {
struct ViewState;
using ViewStatePtr = std::shared_ptr<ViewState>;
using ViewData = std::optional<std::string>;

/// Throws Error (invalid_argument).
[[nodiscard]] CUSTODIAN_EXPORT ViewStatePtr make_view(const Client& client,
                                                      TransactOptions options);
/// Forgets all that was read and written: for the next try.
CUSTODIAN_EXPORT void begin_view(ViewState& state);
CUSTODIAN_EXPORT void start_view_get(CorePtr core, CancellationPtr cancellation, ViewStatePtr state,
                                     std::string path, Handler<ViewData> handler);
/// Completes with whether it was applied; if not it has paused.
CUSTODIAN_EXPORT void start_view_commit(CorePtr core, CancellationPtr cancellation,
                                        ViewStatePtr state, Handler<bool> handler);
[[nodiscard]] CUSTODIAN_EXPORT const CorePtr& core_of(const ViewState& state);
[[nodiscard]] CUSTODIAN_EXPORT Deadline deadline_of(const ViewState& state);

/// What transact() calls in its coroutine form.
using ViewFunction = std::function<boost::asio::awaitable<void>(TransactionView)>;
CUSTODIAN_EXPORT void start_transact(CorePtr core, CancellationPtr cancellation, ViewStatePtr state,
                                     ViewFunction function, Handler<> handler);
}  // namespace recipes_detail

/// What a function of transact() reads and writes. It sees its own writes. Throws Error: what the
/// servers refuse, and at once what cannot be: no_node for set() and remove() of a node that is not
/// there, node_exists for create() of one that is (of nodes that the function has read or written).
class CUSTODIAN_EXPORT TransactionView {
 public:
  /// For transact().
  explicit TransactionView(recipes_detail::ViewStatePtr state) : state_{std::move(state)} {}

  /// The data of a node, and nothing if it does not exist. The second time it returns the same.
  [[nodiscard]] std::optional<std::string> get(const std::string& path);
  /// The same, for a function that is a coroutine. Several may be under way at once. Throws what is
  /// no path at once.
  /// Completes with: error, the data.
  template <typename Token>
  auto async_get(std::string path, Token&& token) {
    check_path(recipes_detail::core_of(*state_), "get", path);
    return initiate<void(error_code, recipes_detail::ViewData), &recipes_detail::start_view_get>(
        recipes_detail::core_of(*state_), std::forward<Token>(token), state_, std::move(path));
  }
  /// Writes a node that exists. If it was not read, it is written whatever is there.
  void set(const std::string& path, std::string data);
  /// Creates a persistent node.
  void create(const std::string& path, std::string data = {});
  /// Removes a node without children.
  void remove(const std::string& path);

 private:
  recipes_detail::ViewStatePtr state_;
};

/// Calls `function(TransactionView&)` and commits what it has written, again and again until no
/// other client was quicker; returns what the function has returned. A function that writes nothing
/// gets a consistent view all the same: what it has read is checked. The blocking form; `function`
/// is called in the caller's thread.
///
/// Throws: what the function throws, and then nothing was changed. Error: bad_version, if
/// `TransactOptions::contention` allows no further try; sequence_exhausted, if a node that was read
/// has the version -1, after 2^32 writes; connection_loss and
/// deadline_exceeded_outcome_unknown, of which nobody knows whether it was applied; and those
/// common to all operations of a Client.
template <typename Function>
auto transact(const Client& client, Function&& function, TransactOptions options = {}) {
  using Returned = std::invoke_result_t<Function&, TransactionView&>;
  const recipes_detail::ViewStatePtr state = recipes_detail::make_view(client, std::move(options));
  const auto commit = [&] {
    const BlockingLimit limit{recipes_detail::deadline_of(*state),
                              Errc::deadline_exceeded_outcome_unknown};
    return block_in_time_or_throw<&recipes_detail::start_view_commit, bool>(
        recipes_detail::core_of(*state), "transact", {}, {}, limit, state);
  };
  for (;;) {
    recipes_detail::begin_view(*state);
    TransactionView view{state};
    if constexpr (std::is_void_v<Returned>) {
      function(view);
      if (commit()) return;
    } else {
      Returned returned = function(view);
      if (commit()) return returned;
    }
  }
}

/// The same for any completion token. `function(TransactionView)` is a coroutine
/// (`boost::asio::awaitable<void>`) and reads by `async_get`; it runs on the client's callback
/// executor. Its view is a handle, whose copies are one view. What it throws becomes an error: the
/// code of a system_error, not_enough_memory of a bad_alloc, or else state_not_recoverable.
/// Completes with: error.
/// Cancellation: total; a transaction that was already sent may still be applied.
/// Errors: as transact().
/// Executor: the handler's, or the client's callback executor.
template <typename Token>
auto async_transact(const Client& client,
                    std::function<boost::asio::awaitable<void>(TransactionView)> function,
                    TransactOptions options, Token&& token) {
  recipes_detail::ViewStatePtr state = recipes_detail::make_view(client, std::move(options));
  const CorePtr core = recipes_detail::core_of(*state);
  return initiate<void(error_code), &recipes_detail::start_transact>(
      core, std::forward<Token>(token), std::move(state), std::move(function));
}

}  // namespace custodian
