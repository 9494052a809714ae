#pragma once

/// \file
/// BasicDistributedAtomic is the common part of DistributedAtomicLong, DistributedAtomicInteger and
/// DistributedAtomicValue: a value in the data of one node. Clients on different machines may
/// update it at once, and no update is lost. The functions are std::atomic's.
///
/// An update reads the value, computes the next one, and writes it if the node still has the
/// version that was read; otherwise it begins again, after a random pause. The updates of one
/// client are written one after the other, in the order of the calls; but a store() with
/// `Settle::left_to_caller` is sent at once, and may be applied before earlier updates. Updates by
/// one handle and its copies that are called while another update is under way share the next
/// write: each finds the value that the one before has left.
///
/// **A lost reply.** If the connection breaks after a write was sent, the servers may have applied
/// it. `Settle::left_to_caller`: the update ends with connection_loss, and may have been applied;
/// if the caller repeats it, it may count twice. `Settle::exactly_once`: the update finds out
/// whether it was applied, and goes on.
///
/// A missing node counts as zero (no bytes, for a DistributedAtomicValue), and so does a node
/// without data. load() does not create the node; an update creates it, with zero, and containers
/// above it. Of a number, data of any other length are malformed_data until a store() replaces
/// them. Numbers wrap around at their ends, as with std::atomic.
///
/// Reads come from the server that the client is connected to, which may lag behind: see
/// BasicSharedValue. An update that reads an old value is refused and begins again, which takes a
/// round trip more.
///
/// Do not delete the node while it is in use. Without a witness (`Settle::exactly_once`) an update
/// that was under way meanwhile may take the new node for the old one, as with SharedValue.
///
/// Threads: any. Lifetimes: a handle, which may be copied; the client may be destroyed first
/// (operations then fail with closed); an operation under way may outlive it. The witness is
/// deleted when the last handle is gone.

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "custodian/atomics/update_options.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/shared/versioned.hpp"

namespace custodian {

namespace recipes_detail {

struct AtomicNode;
using AtomicNodePtr = std::shared_ptr<const AtomicNode>;

enum class AtomicChangeKind : std::uint8_t { exchange, exchange_if_equal, add, raise, lower };

/// An update that the library computes.
template <typename T>
struct AtomicChange {
  AtomicChangeKind kind = AtomicChangeKind::exchange;
  T operand{};
  T expected{};
};

/// An update that user code computes.
template <typename T>
using AtomicFunction = std::function<std::optional<T>(const T&)>;

// These templates are compiled for std::string, std::int32_t and std::int64_t.

template <typename T>
CUSTODIAN_EXPORT void start_atomic_load(CorePtr core, CancellationPtr cancellation,
                                        AtomicNodePtr node, OperationOptions options,
                                        Handler<Versioned<T>> handler);
template <typename T>
CUSTODIAN_EXPORT void start_atomic_store(CorePtr core, CancellationPtr cancellation,
                                         AtomicNodePtr node, T desired, OperationOptions options,
                                         Handler<> handler);
template <typename T>
CUSTODIAN_EXPORT void start_atomic_initialize(CorePtr core, CancellationPtr cancellation,
                                              AtomicNodePtr node, T first, OperationOptions options,
                                              Handler<bool> handler);
template <typename T>
CUSTODIAN_EXPORT void start_atomic_change(CorePtr core, CancellationPtr cancellation,
                                          AtomicNodePtr node, AtomicChange<T> change,
                                          OperationOptions options, Handler<Updated<T>> handler);
template <typename T>
CUSTODIAN_EXPORT void start_atomic_compare_exchange(CorePtr core, CancellationPtr cancellation,
                                                    AtomicNodePtr node, Versioned<T> expected,
                                                    T desired, OperationOptions options,
                                                    Handler<Updated<T>> handler);
template <typename T>
CUSTODIAN_EXPORT void start_atomic_update(CorePtr core, CancellationPtr cancellation,
                                          AtomicNodePtr node, AtomicFunction<T> function,
                                          OperationOptions options, Handler<Updated<T>> handler);

/// Throws Error (invalid_argument) if the servers would not accept the value.
template <typename T>
CUSTODIAN_EXPORT void check_atomic(const AtomicNodePtr& node, const T& value);

}  // namespace recipes_detail

/// A value of type T that clients on different machines update at once.
/// \copydetails custodian/atomics/distributed_atomic.hpp
template <typename T>
class CUSTODIAN_EXPORT BasicDistributedAtomic {
 public:
  /// The path of the node itself.
  [[nodiscard]] const std::string& path() const noexcept;

  /// \name The value
  /// Errors, for all: no_auth, malformed_data (the node holds other data; store() replaces it), and
  /// those common to all operations of a Client. For all that write: bad_version, if
  /// `UpdateOptions::contention` allows no further try; sequence_exhausted, if the node's version
  /// is -1, after 2^32 writes, until a client writes the node without a check of the version.
  /// Unless the error is outcome_unknown, a cancellation or a close, the call has not changed the
  /// value; but it may have created a missing node, with zero. A value that is larger than the
  /// servers accept throws at once (invalid_argument), in both forms. The call ends with
  /// invalid_argument if a function has computed such a value, or if the value only fits without
  /// the witness and the check of a lock.
  ///
  /// Cancellation, for all: total; a write that was already sent may still be applied.
  /// Executor, for all: the handler's, or the client's callback executor.
  /// \{

  /// Reads the value. A missing node is zero, of the version 0 and the mzxid 0.
  /// Completes with: error, the value.
  template <typename Token>
  auto async_load(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, Versioned<T>), &recipes_detail::start_atomic_load<T>>(
        core_, std::forward<Token>(token), node_, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_load(Token&& token) const {
    return async_load(OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  [[nodiscard]] Versioned<T> load(OperationOptions options = {}) const;

  /// Writes the value, whatever is there; Apache Curator's forceSet().
  /// Completes with: error.
  template <typename Token>
  auto async_store(const T& desired, OperationOptions options, Token&& token) {
    recipes_detail::check_atomic(node_, desired);
    return initiate<void(error_code), &recipes_detail::start_atomic_store<T>>(
        core_, std::forward<Token>(token), node_, desired, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_store(const T& desired, Token&& token) {
    return async_store(desired, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  void store(const T& desired, OperationOptions options = {});

  /// Creates the node with this value, if it is missing.
  /// Completes with: error, whether this call has created it.
  template <typename Token>
  auto async_initialize(const T& first, OperationOptions options, Token&& token) {
    recipes_detail::check_atomic(node_, first);
    return initiate<void(error_code, bool), &recipes_detail::start_atomic_initialize<T>>(
        core_, std::forward<Token>(token), node_, first, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_initialize(const T& first, Token&& token) {
    return async_initialize(first, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  bool initialize(const T& first, OperationOptions options = {});

  /// Writes `desired`; the previous value is in the result.
  /// Completes with: error, what the update has done.
  template <typename Token>
  auto async_exchange(const T& desired, OperationOptions options, Token&& token) {
    return change({Kind::exchange, desired}, options, std::forward<Token>(token));
  }
  /// The same with default options.
  template <typename Token>
  auto async_exchange(const T& desired, Token&& token) {
    return async_exchange(desired, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  Updated<T> exchange(const T& desired, OperationOptions options = {});

  /// Writes `desired` if the present value comes from the same write as `expected`, which a load()
  /// or an update returned (`Updated::after`). An `expected` that none of them returned, or that is
  /// of a missing node (its mzxid is 0), never matches; but the call creates a missing node, so
  /// that a second call can expect the result of the first.
  /// Completes with: error, what the update has done; `after` is the present value, for the next
  /// call.
  template <typename Token>
  auto async_compare_exchange(const Versioned<T>& expected, const T& desired,
                              OperationOptions options, Token&& token) {
    recipes_detail::check_atomic(node_, desired);
    return initiate<void(error_code, Updated<T>),
                    &recipes_detail::start_atomic_compare_exchange<T>>(
        core_, std::forward<Token>(token), node_, expected, desired, options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_compare_exchange(const Versioned<T>& expected, const T& desired, Token&& token) {
    return async_compare_exchange(expected, desired, OperationOptions{},
                                  std::forward<Token>(token));
  }
  /// The same, blocking. Sets `expected` to the present value, even if it returns true, unlike
  /// std::atomic's function. Throws Error; then `expected` is unchanged.
  [[nodiscard]] bool compare_exchange(Versioned<T>& expected, const T& desired,
                                      OperationOptions options = {});

  /// Writes `desired` if the present value equals `expected`, whichever write it comes from.
  /// Completes with: error, what the update has done; `before` is the value that was found.
  template <typename Token>
  auto async_compare_exchange(const T& expected, const T& desired, OperationOptions options,
                              Token&& token) {
    return change({Kind::exchange_if_equal, desired, expected}, options,
                  std::forward<Token>(token));
  }
  /// The same with default options.
  template <typename Token>
  auto async_compare_exchange(const T& expected, const T& desired, Token&& token) {
    return async_compare_exchange(expected, desired, OperationOptions{},
                                  std::forward<Token>(token));
  }
  /// The same, blocking. If the present value is another one, sets `expected` to it, as
  /// std::atomic's function does. Throws Error.
  [[nodiscard]] bool compare_exchange(T& expected, const T& desired, OperationOptions options = {});

  /// Calls `function` with the present value, and writes the value that it returns; if it returns
  /// std::nullopt, nothing is written. The function may be called several times, each time with
  /// another value. It runs on the client's callback executor. It must not wait for this client. If
  /// it throws, the update ends with the code of a system_error, not_enough_memory for a bad_alloc,
  /// or else state_not_recoverable; the log has the text.
  /// Completes with: error, what the update has done.
  template <typename Token>
  auto async_update(std::function<std::optional<T>(const T&)> function, OperationOptions options,
                    Token&& token) {
    return initiate<void(error_code, Updated<T>), &recipes_detail::start_atomic_update<T>>(
        core_, std::forward<Token>(token), node_, std::move(function), options);
  }
  /// The same with default options.
  template <typename Token>
  auto async_update(std::function<std::optional<T>(const T&)> function, Token&& token) {
    return async_update(std::move(function), OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  Updated<T> update(std::function<std::optional<T>(const T&)> function,
                    OperationOptions options = {});
  /// \}

  /// \name Numbers
  /// Errors, cancellation and executor are those of the group above. The result has both values and
  /// Apache Curator's stats, so `fetch_add(1).before.value` is what std::atomic's function returns.
  /// \{

  /// Adds a number, which may be negative.
  /// Completes with: error, what the update has done.
  template <typename Token>
  auto async_fetch_add(T operand, OperationOptions options,
                       Token&& token) requires std::integral<T> {
    return change({Kind::add, operand}, options, std::forward<Token>(token));
  }
  /// The same with default options.
  template <typename Token>
  auto async_fetch_add(T operand, Token&& token) requires std::integral<T> {
    return async_fetch_add(operand, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  Updated<T> fetch_add(T operand, OperationOptions options = {}) requires std::integral<T>;

  /// Subtracts a number.
  /// Completes with: error, what the update has done.
  template <typename Token>
  auto async_fetch_sub(T operand, OperationOptions options,
                       Token&& token) requires std::integral<T> {
    return change({Kind::add, negated(operand)}, options, std::forward<Token>(token));
  }
  /// The same with default options.
  template <typename Token>
  auto async_fetch_sub(T operand, Token&& token) requires std::integral<T> {
    return async_fetch_sub(operand, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  Updated<T> fetch_sub(T operand, OperationOptions options = {}) requires std::integral<T>;

  /// Writes the operand if it is greater than the value; otherwise nothing is written.
  /// Completes with: error, what the update has done.
  template <typename Token>
  auto async_fetch_max(T operand, OperationOptions options,
                       Token&& token) requires std::integral<T> {
    return change({Kind::raise, operand}, options, std::forward<Token>(token));
  }
  /// The same with default options.
  template <typename Token>
  auto async_fetch_max(T operand, Token&& token) requires std::integral<T> {
    return async_fetch_max(operand, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  Updated<T> fetch_max(T operand, OperationOptions options = {}) requires std::integral<T>;

  /// Writes the operand if it is less than the value; otherwise nothing is written.
  /// Completes with: error, what the update has done.
  template <typename Token>
  auto async_fetch_min(T operand, OperationOptions options,
                       Token&& token) requires std::integral<T> {
    return change({Kind::lower, operand}, options, std::forward<Token>(token));
  }
  /// The same with default options.
  template <typename Token>
  auto async_fetch_min(T operand, Token&& token) requires std::integral<T> {
    return async_fetch_min(operand, OperationOptions{}, std::forward<Token>(token));
  }
  /// The same, blocking. Throws Error.
  Updated<T> fetch_min(T operand, OperationOptions options = {}) requires std::integral<T>;

  /// fetch_add(1); returns the new value. Throws Error.
  T operator++() requires std::integral<T> { return fetch_add(1).after.value; }
  /// fetch_add(1); returns the previous value. Throws Error.
  T operator++(int) requires std::integral<T> { return fetch_add(1).before.value; }
  /// fetch_sub(1); returns the new value. Throws Error.
  T operator--() requires std::integral<T> { return fetch_sub(1).after.value; }
  /// fetch_sub(1); returns the previous value. Throws Error.
  T operator--(int) requires std::integral<T> { return fetch_sub(1).before.value; }
  /// fetch_add(); returns the new value. Throws Error.
  T operator+=(T operand) requires std::integral<T> { return fetch_add(operand).after.value; }
  /// fetch_sub(); returns the new value. Throws Error.
  T operator-=(T operand) requires std::integral<T> { return fetch_sub(operand).after.value; }
  /// \}

  /// For authors of recipes: the node.
  [[nodiscard]] const recipes_detail::AtomicNodePtr& state() const noexcept { return node_; }

 protected:
  /// `recipe` is the name of the recipe in errors.
  BasicDistributedAtomic(const Client& client, std::string_view recipe, std::string path,
                         UpdateOptions options);
  /// Another handle on the same value.
  BasicDistributedAtomic(const BasicDistributedAtomic&) = default;
  /// Makes this object a handle on the value of the other object.
  BasicDistributedAtomic& operator=(const BasicDistributedAtomic&) = default;
  ~BasicDistributedAtomic() = default;

 private:
  using Kind = recipes_detail::AtomicChangeKind;
  using Change = recipes_detail::AtomicChange<T>;

  /// The least number is its own negative, since numbers wrap around.
  [[nodiscard]] static T negated(T operand) noexcept requires std::integral<T> {
    return static_cast<T>(~static_cast<std::uint64_t>(operand) + 1);
  }
  template <typename Token>
  auto change(Change what, OperationOptions options, Token&& token) {
    recipes_detail::check_atomic(node_, what.operand);
    return initiate<void(error_code, Updated<T>), &recipes_detail::start_atomic_change<T>>(
        core_, std::forward<Token>(token), node_, std::move(what), options);
  }
  Updated<T> change(std::string_view operation, Change what, OperationOptions options);

  CorePtr core_;
  recipes_detail::AtomicNodePtr node_;
};

extern template class BasicDistributedAtomic<std::string>;
extern template class BasicDistributedAtomic<std::int32_t>;
extern template class BasicDistributedAtomic<std::int64_t>;

}  // namespace custodian
