#pragma once

/// \file
/// BasicSharedValue is the common part of SharedValue and SharedCount: a small value that processes
/// on different machines share, in the data of one node. The functions are those of std::atomic,
/// with a version where that compares values.
///
/// A missing node counts as the seed: the client that finds it missing creates it, and containers
/// above it. Of several that do so at once, the first wins, and all go on with what is there then.
///
/// Reads come from the server that the client is connected to, which may be behind. One client
/// never sees an older value after a newer one, unless its session was lost in between; a
/// compare_exchange() with an older one fails. A reader that must see the newest write calls
/// Client::sync() first.
///
/// Do not delete the node while it is in use. The servers compare version numbers, which begin at 0
/// again with a new node: a compare_exchange() that expects the old node's value then succeeds if
/// the new one has come to the same number. (Version 0 is always a seed; wait() is not deceived.)
///
/// Threads: any. Lifetimes: a handle, which may be copied; the client may go first (operations then
/// fail with closed); an operation under way may outlive it.

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

// Compiled for std::string and std::int32_t.

/// The data of a node for this value. Throws Error (invalid_argument) if the servers would not take
/// them.
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
  /// The path of the node itself.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The value
  /// Errors, for all: no_auth, malformed_data (the node holds something else; store() mends it),
  /// and those common to all operations of a Client. Of an error that is not outcome_unknown, nor a
  /// cancellation or a close, the value has not been changed by this call, but a missing node may
  /// have come into being, with the seed. Values larger than the servers accept throw at once
  /// (invalid_argument), in both forms.
  /// \{

  /// Reads the value.
  /// Completes with: error, the value.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_load(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, Versioned<T>), &recipes_detail::start_load<T>>(
        core_, std::forward<Token>(token), node_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_load(Token&& token) const {
    return async_load(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] Versioned<T> load(OperationOptions options = {}) const;

  /// Writes the value, whatever is there. (Where there is no node, the seed first.)
  /// Completes with: error.
  /// Cancellation: total; what was sent by then may still be applied.
  /// Errors: see above. A lost reply leaves the outcome unknown (connection_loss,
  /// deadline_exceeded_outcome_unknown): nothing is repeated, for that might undo another client's
  /// write.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_store(const T& desired, OperationOptions options, Token&& token) {
    return initiate<void(error_code), &recipes_detail::start_store>(
        core_, std::forward<Token>(token), node_, recipes_detail::bytes_for(node_, desired),
        options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_store(const T& desired, Token&& token) {
    return async_store(desired, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  void store(const T& desired, OperationOptions options = {});

  /// Writes the value if the one that is there has the version of `expected`, which load(), wait()
  /// or this function gave. One that none of them gave (its mzxid is 0) is never there. May fail
  /// although the value is the same, if it was written again.
  /// Completes with: error, whether it was written, and what is there now: `desired` with its
  /// version, or what was found instead.
  /// Cancellation: total; what was sent by then may still be applied.
  /// Errors: see above. A lost reply leaves the outcome unknown (connection_loss,
  /// deadline_exceeded_outcome_unknown) and must not be guessed: the value that is there afterwards
  /// may be this one, or another's that is equal to it, or have been overwritten since.
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
  /// The same with default options.
  template <typename Token>
  auto async_compare_exchange(const Versioned<T>& expected, const T& desired, Token&& token) {
    return async_compare_exchange(expected, desired, OperationOptions{},
                                  std::forward<Token>(token));
  }
  /// The same, blocking: `expected` is what is there now, also if true, unlike std::atomic's: so
  /// the next write needs no load(). If it throws, `expected` is left alone. `while
  /// (!count.compare_exchange(now, now.value + 1)) {}`
  [[nodiscard]] bool compare_exchange(Versioned<T>& expected, const T& desired,
                                      OperationOptions options = {});

  /// Waits until there is a later write than the known one, without limit: through disconnections,
  /// and through a lost session. At once if there is one already, so nothing is missed between two
  /// waits but what was overwritten meanwhile. A deleted node counts as the seed, written anew.
  /// Completes with: error, the value.
  /// Cancellation: total.
  /// Errors: see above.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait(const Versioned<T>& known, Token&& token) const {
    return initiate<void(error_code, Versioned<T>), &recipes_detail::start_wait_newer<T>>(
        core_, std::forward<Token>(token), node_, known.mzxid);
  }
  /// The same, blocking. Throws Error; `stop` ends it with operation_aborted.
  [[nodiscard]] Versioned<T> wait(const Versioned<T>& known, std::stop_token stop = {}) const;
  /// \}

  /// \name Without asking
  /// \{

  /// Is called with a value.
  using Listener = std::function<void(const Versioned<T>&)>;

  /// Notifies the listener of the value that is there, and then of each newer one, through
  /// disconnections and lost sessions, until the subscription is destroyed or the client is closed,
  /// neither of which it hears of. A missing node comes into being, with the seed; a deleted one
  /// counts as the seed, written anew.
  ///
  /// No write is notified twice. Within a session none is notified after a later one; after a lost
  /// session the first one may be earlier, of a server that lags behind or of servers that were
  /// restored. What was overwritten before the listener was called is skipped, so a slow listener
  /// costs others nothing. A compare_exchange() may begin with the value that the listener got.
  ///
  /// Errors: they do not reach the listener. While the servers forbid to read or to create the node
  /// (no_auth), the client tries again, with the pauses of its retry policy; of a node that holds
  /// something else (malformed_data) it waits for the next change. The log says so once each
  /// (`LogLevel::warning`). Throws Error: invalid_argument (an empty function), forked.
  ///
  /// The subscription may be destroyed at any moment, by any thread, by the listener itself, too:
  /// no new call begins then; one that is under way may still be running. It may outlive the client
  /// and this object. As a member, declare it after the objects that the listener uses.
  ///
  /// Executor: the client's callback executor; calls do not overlap. What the listener throws
  /// reaches that executor.
  [[nodiscard]] Subscription on_change(Listener listener) const;

  /// The newest value that this object, or a copy of it, has read or written, without a request: as
  /// old as the newest of its operations. Together with on_change() it is what the server showed
  /// last. Nothing before the first, and in a forked child. Never an older value after a newer one
  /// within a session. Any thread; never blocks.
  [[nodiscard]] std::optional<Versioned<T>> last_known() const;
  /// \}

  /// For authors of recipes: the node to keep.
  [[nodiscard]] const recipes_detail::SharedNodePtr& state() const noexcept { return node_; }

 protected:
  /// `recipe` is what errors call it.
  BasicSharedValue(const Client& client, std::string_view recipe, std::string path, const T& seed);
  /// Another handle on the same node.
  BasicSharedValue(const BasicSharedValue&) = default;
  /// A handle on the other node from now on.
  BasicSharedValue& operator=(const BasicSharedValue&) = default;
  ~BasicSharedValue() = default;

 private:
  CorePtr core_;
  recipes_detail::SharedNodePtr node_;
};

extern template class BasicSharedValue<std::string>;
extern template class BasicSharedValue<std::int32_t>;

}  // namespace custodian
