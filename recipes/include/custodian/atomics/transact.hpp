#pragma once

/// \file
/// transact() reads several nodes, computes, and writes, as if nobody else wrote meanwhile: etcd's
/// STM in ZooKeeper's words. The function that is passed to it reads and writes through a view;
/// then one transaction checks the versions of all that was read, and writes. If another client has
/// written one of these nodes, the function is called again.
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
/// The function may be called several times, so it must do nothing but use its view. It reads from
/// the server that the client is connected to, which may lag behind, and its reads may be of
/// different moments: then the commit is refused, and the function is called again. So the function
/// must do no lasting harm when data do not fit together; it may throw, and then nothing is
/// written.
///
/// **A node that is deleted and created anew** begins with version 0 again. If its version then
/// happens to be the one that was read, the check passes: do not delete nodes that transact() uses,
/// or write into each value what it belongs to. (`DistributedAtomicLong` with
/// `Settle::exactly_once` has a witness against this.)
///
/// **A node that was read and does not exist**: the transaction checks that by creating and
/// removing the node. So its parent must exist, and the watches on the parent's children fire.
///
/// When not to use it: for one number (DistributedAtomicLong); under a lock that everybody acquires
/// (then `client.commit({lease.check(), ...})` will do); for many nodes, or large ones, since all
/// operations are one request.
///
/// Threads: each call has a view of its own, which only its function uses, and which must not
/// outlive the call of the function.

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
  /// How often, and after which pauses, transact() tries again when another client has written.
  RetryPolicy contention = UpdateOptions::default_contention();
  /// `left_to_caller`: after a lost reply transact() ends with connection_loss, and the transaction
  /// may have been applied. `exactly_once`: transact() finds out. For that, the transaction also
  /// creates an ephemeral node with a unique name, the *witness* that it was applied. The witness
  /// is deleted afterwards; but after a lost reply it stays until the session ends, since the
  /// servers may receive the lost transaction late, and the witness makes them refuse it. The
  /// outcome remains unknown only if the session has ended, or if the caller has given up.
  Settle settle = Settle::left_to_caller;
  /// For `exactly_once`: the path of the witness's parent, which must exist, and at which this
  /// client must have the permission to create and delete children.
  std::string witness_below{};
  /// The deadline of the whole call, the function's reads included. Default:
  /// `ClientOptions::operation_timeout` from the call.
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
/// Completes with whether the transaction was applied; if it was not, the pause before the next try
/// is over.
CUSTODIAN_EXPORT void start_view_commit(CorePtr core, CancellationPtr cancellation,
                                        ViewStatePtr state, Handler<bool> handler);
[[nodiscard]] CUSTODIAN_EXPORT const CorePtr& core_of(const ViewState& state);
[[nodiscard]] CUSTODIAN_EXPORT Deadline deadline_of(const ViewState& state);

/// What transact() calls in its coroutine form.
using ViewFunction = std::function<boost::asio::awaitable<void>(TransactionView)>;
CUSTODIAN_EXPORT void start_transact(CorePtr core, CancellationPtr cancellation, ViewStatePtr state,
                                     ViewFunction function, Handler<> handler);
}  // namespace recipes_detail

/// The nodes as a function of transact() reads and writes them, its own writes included. Throws
/// Error: at a read, the error of the servers; and at once, for a node that the function has read
/// or written, no_node if set() or remove() names a node that does not exist, and node_exists if
/// create() names one that does.
class CUSTODIAN_EXPORT TransactionView {
 public:
  /// Called by transact().
  explicit TransactionView(recipes_detail::ViewStatePtr state) : state_{std::move(state)} {}

  /// The data of a node, and nothing if it does not exist. A second call for the node returns the
  /// same, unless the function has written the node in between.
  [[nodiscard]] std::optional<std::string> get(const std::string& path);
  /// The same, for a function that is a coroutine. Several calls may be under way at once. Throws
  /// Error (invalid_argument) at once if `path` is not valid.
  /// Completes with: error, the data.
  template <typename Token>
  auto async_get(std::string path, Token&& token) {
    check_path(recipes_detail::core_of(*state_), "get", path);
    return initiate<void(error_code, recipes_detail::ViewData), &recipes_detail::start_view_get>(
        recipes_detail::core_of(*state_), std::forward<Token>(token), state_, std::move(path));
  }
  /// Writes a node that exists. If the function has not read the node, its version is not checked.
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
/// Throws the function's exceptions, and then nothing was changed. Throws Error: bad_version, if
/// `TransactOptions::contention` allows no further try; sequence_exhausted, if a node that was read
/// has the version -1, after 2^32 writes; connection_loss and deadline_exceeded_outcome_unknown,
/// after which the transaction may have been applied; and those common to all operations of a
/// Client.
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
/// executor. Its view is a handle, and all copies of the handle are one view. An exception of the
/// function becomes the call's error: the code of a system_error, not_enough_memory for a
/// bad_alloc, or else state_not_recoverable.
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
