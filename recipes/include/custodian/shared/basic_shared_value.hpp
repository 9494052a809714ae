#pragma once

/// \file
/// BasicSharedValue is the common part of SharedValue and SharedCount: a small value that processes
/// on different machines share, in the data of one node. The functions are those of std::atomic,
/// but compare_exchange() compares versions and not values.
///
/// A missing node counts as the seed: the client that finds it missing creates it, and containers
/// above it. If several clients do so at once, the first wins, and all of them go on with its
/// value.
///
/// Reads come from the server that the client is connected to, which may lag behind. One client
/// never sees an older value after a newer one, unless its session was lost in between; a
/// compare_exchange() that expects an older value fails. A reader that must see the newest write
/// calls Client::sync() first.
///
/// Do not delete the node while it is in use. The servers compare version numbers, and a new node
/// begins at 0 again: so a compare_exchange() that expects a value of the old node succeeds if the
/// new node has reached the same number. (If only objects of this class create the node, a value
/// with version 0 is always a seed. wait() is not affected.)
///
/// Threads: any. Lifetimes: the object is a handle, which may be copied. The client may be
/// destroyed first (operations then fail with closed). An operation under way may outlive the
/// handle.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/connection_state.hpp"
#include "custodian/export.hpp"
#include "custodian/shared/versioned.hpp"

namespace custodian {

namespace recipes_detail {

struct SharedNode;
using SharedNodePtr = std::shared_ptr<const SharedNode>;

/// The part of an expected value that a compare_exchange() needs.
struct ExpectedVersion {
  std::int32_t version = 0;
  std::int64_t mzxid = 0;
};

// These templates are compiled for std::string and std::int32_t.

/// Returns the data of a node that holds this value. Throws Error (invalid_argument) if the servers
/// would not accept it.
template <typename T>
[[nodiscard]] CUSTODIAN_EXPORT std::string bytes_for(const SharedNodePtr& node, const T& value);

template <typename T>
CUSTODIAN_EXPORT void start_load(CorePtr core, CancellationPtr cancellation, SharedNodePtr node,
                                 OperationOptions options, Handler<Versioned<T>> handler);
CUSTODIAN_EXPORT void start_store(CorePtr core, CancellationPtr cancellation, SharedNodePtr node,
                                  std::string desired, OperationOptions options, Handler<> handler);
template <typename T>
CUSTODIAN_EXPORT void start_compare_exchange(CorePtr core, CancellationPtr cancellation,
                                             SharedNodePtr node, ExpectedVersion expected,
                                             std::string desired, OperationOptions options,
                                             Handler<bool, Versioned<T>> handler);
template <typename T>
CUSTODIAN_EXPORT void start_wait_newer(CorePtr core, CancellationPtr cancellation,
                                       SharedNodePtr node, std::int64_t known_mzxid,
                                       Handler<Versioned<T>> handler);

}  // namespace recipes_detail

/// A value of type T in the data of one node: a std::string (SharedValue) or a std::int32_t
/// (SharedCount).
/// \copydetails custodian/shared/basic_shared_value.hpp
template <typename T>
class CUSTODIAN_EXPORT BasicSharedValue {
 public:
  /// The path of the node that holds the value.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The value
  /// Errors of all these functions: no_auth, malformed_data (the node's data are not a value of
  /// this type; store() replaces them), and those common to all operations of a Client. After any
  /// other error than outcome_unknown, operation_aborted or closed, the call has not changed the
  /// value; but it may have created a missing node, with the seed. Both forms throw at once
  /// (invalid_argument) for a value that is larger than the servers accept.
  /// \{

  /// Reads the value.
  /// Completes with: error, the value.
  /// Cancellation: total.
  /// Errors: those listed at the head of this group.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_load(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, Versioned<T>), &recipes_detail::start_load<T>>(
        core_, std::forward<Token>(token), node_, options);
  }
  /// async_load() with default options.
  template <typename Token>
  auto async_load(Token&& token) const {
    return async_load(OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form of async_load(). Throws Error.
  [[nodiscard]] Versioned<T> load(OperationOptions options = {}) const;

  /// Writes the value unconditionally. (If there is no node, it is first created with the seed.)
  /// Completes with: error.
  /// Cancellation: total; a request that was already sent may still be applied.
  /// Errors: those listed at the head of this group. A lost reply leaves the outcome unknown
  /// (connection_loss, deadline_exceeded_outcome_unknown): the write is not repeated, since a
  /// repetition might undo another client's write.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_store(const T& desired, OperationOptions options, Token&& token) {
    return initiate<void(error_code), &recipes_detail::start_store>(
        core_, std::forward<Token>(token), node_, recipes_detail::bytes_for(node_, desired),
        options);
  }
  /// async_store() with default options.
  template <typename Token>
  auto async_store(const T& desired, Token&& token) {
    return async_store(desired, OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form of async_store(). Throws Error.
  void store(const T& desired, OperationOptions options = {});

  /// Writes `desired` if the present value has the version of `expected`, which must come from
  /// load(), wait() or this function. An `expected` that none of them returned (its mzxid is 0)
  /// never matches. The exchange may fail although the value is the same, if the value was written
  /// again.
  /// Completes with: error, whether `desired` was written, and the present value: `desired` with
  /// its version, or the value that was found instead.
  /// Cancellation: total; a request that was already sent may still be applied.
  /// Errors: those listed at the head of this group. A lost reply leaves the outcome unknown
  /// (connection_loss, deadline_exceeded_outcome_unknown) and a later read cannot reveal it: a
  /// value equal to `desired` may be another client's, and another value may have overwritten
  /// `desired` since.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_compare_exchange(const Versioned<T>& expected, const T& desired,
                              OperationOptions options, Token&& token) {
    return initiate<void(error_code, bool, Versioned<T>),
                    &recipes_detail::start_compare_exchange<T>>(
        core_, std::forward<Token>(token), node_,
        recipes_detail::ExpectedVersion{expected.version, expected.mzxid},
        recipes_detail::bytes_for(node_, desired), options);
  }
  /// async_compare_exchange() with default options.
  template <typename Token>
  auto async_compare_exchange(const Versioned<T>& expected, const T& desired, Token&& token) {
    return async_compare_exchange(expected, desired, OperationOptions{},
                                  std::forward<Token>(token));
  }
  /// The blocking form of async_compare_exchange(). Throws Error; `expected` is then unchanged.
  /// Otherwise it sets `expected` to the present value, even if it returns true, unlike
  /// std::atomic's function; so the next write needs no load(): `while
  /// (!count.compare_exchange(now, now.value + 1)) {}`
  [[nodiscard]] bool compare_exchange(Versioned<T>& expected, const T& desired,
                                      OperationOptions options = {});

  /// Waits without limit until there is a later write than that of `known`, through disconnections
  /// and lost sessions. Completes at once if there is a later write already, so between two waits
  /// only values that were overwritten meanwhile are missed. A deleted node counts as a new write
  /// of the seed.
  /// Completes with: error, the value.
  /// Cancellation: total.
  /// Errors: those listed at the head of this group.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait(const Versioned<T>& known, Token&& token) const {
    return initiate<void(error_code, Versioned<T>), &recipes_detail::start_wait_newer<T>>(
        core_, std::forward<Token>(token), node_, known.mzxid);
  }
  /// The blocking form of async_wait(). Throws Error; `stop` ends it with operation_aborted.
  [[nodiscard]] Versioned<T> wait(const Versioned<T>& known, std::stop_token stop = {}) const;
  /// \}

  /// \name Changes, and the last known value
  /// \{

  /// The type of a listener: see on_change().
  using Listener = std::function<void(const Versioned<T>&)>;

  /// Notifies the listener of the present value, and then of each newer one, through disconnections
  /// and lost sessions, until the subscription is destroyed or the client is closed; the listener
  /// is not notified of that end. A missing node is created, with the seed; a deleted node counts
  /// as a new write of the seed.
  ///
  /// The listener is not notified of a write twice. Within a session it gets writes in their order;
  /// after a lost session it may get an older write than the last, if a server lags behind or the
  /// servers were restored from a backup. A value that was overwritten before the listener was
  /// called is skipped, so a slow listener delays no one else. A compare_exchange() may expect the
  /// value that the listener got.
  ///
  /// Errors do not reach the listener. While the servers do not permit the client to read or to
  /// create the node (no_auth), the client tries again, with the pauses of its retry policy. If the
  /// node's data are not a value of this type (malformed_data), the client waits for the next
  /// change. Each of these two errors is logged once (`LogLevel::warning`). on_change() itself
  /// throws Error: invalid_argument (an empty function), forked.
  ///
  /// The subscription may be destroyed at any moment, on any thread, and by the listener itself.
  /// Then no new call begins; a call that is under way may still be running. The subscription may
  /// outlive the client and this object. If the subscription is a member of an object, declare it
  /// after the members that the listener uses.
  ///
  /// Executor: the client's callback executor; calls do not overlap. An exception of the listener
  /// reaches that executor.
  [[nodiscard]] Subscription on_change(Listener listener) const;

  /// The newest value that this object, or a copy of it, has read or written. Sends no request: the
  /// value is as old as the newest of those operations. While on_change() has a listener, this is
  /// the value that the server showed last. Empty before the first operation, and in a forked
  /// child. Within a session an older value never follows a newer one. Any thread; never blocks.
  [[nodiscard]] std::optional<Versioned<T>> last_known() const;
  /// \}

  /// For authors of recipes: the shared node.
  [[nodiscard]] const recipes_detail::SharedNodePtr& state() const noexcept { return node_; }

 protected:
  /// `recipe` is the name of the recipe in errors.
  BasicSharedValue(const Client& client, std::string_view recipe, std::string path, const T& seed);
  /// Another handle on the same node.
  BasicSharedValue(const BasicSharedValue&) = default;
  /// Makes this object a handle on the node of the other object.
  BasicSharedValue& operator=(const BasicSharedValue&) = default;
  ~BasicSharedValue() = default;

 private:
  CorePtr core_;
  recipes_detail::SharedNodePtr node_;
};

extern template class BasicSharedValue<std::string>;
extern template class BasicSharedValue<std::int32_t>;

}  // namespace custodian
