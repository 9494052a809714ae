#include "custodian/atomics/distributed_atomic.hpp"

#include <utility>

#include "atomics/atomic_codec.hpp"
#include "atomics/atomic_node.hpp"
#include "atomics/initialize.hpp"
#include "atomics/update.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/observed_lock.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian {

namespace recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// One deadline for all the requests of an operation.
OperationOptions with_deadline(const AtomicNode& node, OperationOptions options) {
  options.deadline = node.value->client.deadline_or_default(options.deadline);
  return options;
}

template <typename T>
Result<Versioned<T>> decoded(const Versioned<std::string>& bytes) {
  std::optional<T> value = decode_atomic<T>(bytes.value);
  if (!value) return Errc::malformed_data;
  return Versioned<T>{std::move(*value), bytes.version, bytes.mzxid};
}

template <typename T>
asio::awaitable<Result<Versioned<T>>> load(AtomicNodePtr node, CancellationPtr cancellation,
                                           OperationOptions options) {
  const CorePtr core = node->value->client.core();
  const std::string path = node->value->path;
  const auto [error, found] =
      co_await await<&start_get, GetResult>(core, cancellation, path, options);
  if (error == ServerErrc::no_node) co_return Versioned<T>{};
  if (error) co_return error;
  const Versioned<std::string> bytes{found.data, found.stat.version, found.stat.mzxid};
  co_return decoded<T>(bytes);
}

template <typename T>
constexpr std::string_view recipe_of() {
  if constexpr (std::is_same_v<T, std::int64_t>) return "DistributedAtomicLong";
  if constexpr (std::is_same_v<T, std::int32_t>) return "DistributedAtomicInteger";
  return "DistributedAtomicValue";
}

/// Measures an update that begins now, and reports its end to the client's observer, if there is
/// one.
class ObservedUpdate {
 public:
  ObservedUpdate(std::string_view recipe, const SharedNode& value)
      : core_{value.client.core()},
        value_{make_observed(core_, recipe, value.path)},
        since_{value_ ? now_of(core_) : BootClock::time_point{}} {}

  void tell_ended(const Result<StoredUpdate>& result) const {
    if (!value_) return;
    UpdateFacts facts;
    if (result) {
      facts = {.written = result->written, .tries = result->tries, .promoted = result->promoted};
    } else {
      facts.error = result.error();
    }
    tell_update_ended(core_, value_, facts, since_);
  }

 private:
  const CorePtr core_;
  const ObservedLockPtr value_;
  const BootClock::time_point since_;
};

template <typename T>
asio::awaitable<Result<Updated<T>>> update_to(UpdateJob job) {
  const ObservedUpdate observed{recipe_of<T>(), *job.node->value};
  const Result<StoredUpdate> ended = co_await update(std::move(job));
  observed.tell_ended(ended);
  if (!ended) co_return ended.error();
  const Result<Versioned<T>> before = decoded<T>(ended->before);
  const Result<Versioned<T>> after = decoded<T>(ended->after);
  if (!before || !after) co_return Errc::malformed_data;
  co_return Updated<T>{.before = *before,
                       .after = *after,
                       .written = ended->written,
                       .tries = ended->tries,
                       .promoted = ended->promoted};
}

asio::awaitable<Result<void>> store_bytes(std::string_view recipe, UpdateJob job) {
  const ObservedUpdate observed{recipe, *job.node->value};
  const Result<StoredUpdate> ended = co_await update(std::move(job));
  observed.tell_ended(ended);
  if (!ended) co_return ended.error();
  co_return Result<void>{};
}

template <typename T>
void start_update_to(UpdateJob job, Handler<Updated<T>> handler) {
  const Client& client = job.node->value->client;
  const CorePtr core = client.core();
  const std::string what = "updating " + job.node->value->path;
  spawn(core, what, update_to<T>(std::move(job)), std::move(handler));
}

/// Adapts `modify`, which works on values, to the update's bytes.
template <typename T, typename Modify>
Compute on_values(Modify modify) {
  return [modify = std::move(modify)](
             const Versioned<std::string>& now) -> Result<std::optional<std::string>> {
    const std::optional<T> value = decode_atomic<T>(now.value);
    if (!value) return Errc::malformed_data;
    const std::optional<T> next = modify(*value);
    return next ? std::optional{encode_atomic(*next)} : std::nullopt;
  };
}

}  // namespace

template <typename T>
void check_atomic(const AtomicNodePtr& node, const T& value) {
  check_set(node->value->client.core(), node->value->path, encode_atomic(value));
}

template <typename T>
void start_atomic_load(CorePtr core, CancellationPtr cancellation, AtomicNodePtr node,
                       OperationOptions options, Handler<Versioned<T>> handler) {
  const std::string what = "reading " + node->value->path;
  options = with_deadline(*node, options);
  spawn(core, what, load<T>(std::move(node), std::move(cancellation), options), std::move(handler));
}

template <typename T>
void start_atomic_store(CorePtr core, CancellationPtr cancellation, AtomicNodePtr node, T desired,
                        OperationOptions options, Handler<> handler) {
  std::string bytes = encode_atomic(desired);
  if (node->options.settle == Settle::left_to_caller) {
    return start_store(std::move(core), std::move(cancellation), node->value, std::move(bytes),
                       options, std::move(handler));
  }
  const std::string what = "writing " + node->value->path;
  options = with_deadline(*node, options);
  const auto replace = [bytes = std::move(bytes)](const Versioned<std::string>&) {
    return Result<std::optional<std::string>>{bytes};
  };
  spawn(core, what,
        store_bytes(recipe_of<T>(), {.node = std::move(node),
                                     .cancellation = std::move(cancellation),
                                     .options = options,
                                     .compute = replace}),
        std::move(handler));
}

template <typename T>
void start_atomic_initialize(CorePtr core, CancellationPtr cancellation, AtomicNodePtr node,
                             T first, OperationOptions options, Handler<bool> handler) {
  const std::string what = "creating " + node->value->path;
  options = with_deadline(*node, options);
  spawn(core, what,
        initialize(std::move(node), std::move(cancellation), encode_atomic(first), options),
        std::move(handler));
}

template <typename T>
void start_atomic_change(CorePtr, CancellationPtr cancellation, AtomicNodePtr node,
                         AtomicChange<T> change, OperationOptions options,
                         Handler<Updated<T>> handler) {
  options = with_deadline(*node, options);
  const auto modify = [change = std::move(change)](const T& now) { return modified(change, now); };
  start_update_to<T>({.node = std::move(node),
                      .cancellation = std::move(cancellation),
                      .options = options,
                      .compute = on_values<T>(modify)},
                     std::move(handler));
}

template <typename T>
void start_atomic_compare_exchange(CorePtr, CancellationPtr cancellation, AtomicNodePtr node,
                                   Versioned<T> expected, T desired, OperationOptions options,
                                   Handler<Updated<T>> handler) {
  options = with_deadline(*node, options);
  const bool was_read = expected.mzxid != 0;
  const auto replace = [was_read, mzxid = expected.mzxid,
                        bytes = encode_atomic(desired)](const Versioned<std::string>& now) {
    const bool is_it = was_read && now.mzxid == mzxid;
    return Result<std::optional<std::string>>{is_it ? std::optional{bytes} : std::nullopt};
  };
  std::optional<Versioned<std::string>> known;
  if (was_read) known = {encode_atomic(expected.value), expected.version, expected.mzxid};
  start_update_to<T>({.node = std::move(node),
                      .cancellation = std::move(cancellation),
                      .options = options,
                      .compute = replace,
                      .known = std::move(known)},
                     std::move(handler));
}

template <typename T>
void start_atomic_update(CorePtr, CancellationPtr cancellation, AtomicNodePtr node,
                         AtomicFunction<T> function, OperationOptions options,
                         Handler<Updated<T>> handler) {
  if (!function) return std::move(handler)(Errc::invalid_argument, Updated<T>{});
  options = with_deadline(*node, options);
  start_update_to<T>({.node = std::move(node),
                      .cancellation = std::move(cancellation),
                      .options = options,
                      .compute = on_values<T>(std::move(function)),
                      .computed_on = ComputedOn::callback_executor},
                     std::move(handler));
}

}  // namespace recipes_detail

namespace {

recipes_detail::AtomicNodePtr make_node(const Client& client, std::string_view recipe,
                                        std::string path, std::string seed, UpdateOptions options) {
  const CorePtr& core = client.core();
  check_path(core, recipe, path);
  check_create(core, path, seed, {});
  recipes_detail::LockSpecPtr lock;
  if (options.promoted) {
    const auto refuse = [&](bool wrong, std::string_view why) {
      if (wrong) throw Error{Errc::invalid_argument, recipe, path, why};
    };
    const std::string& lock_path = options.promoted->path;
    refuse(options.promoted->after_tries < 0, "promoted: after_tries is negative");
    // The acquire would create the value's node as a container, which the servers remove.
    refuse(lock_path == path || lock_path.starts_with(path + "/"),
           "promoted: the lock has a path of its own, not at or below the value's");
    lock = recipes_detail::make_lock_spec(
        client, recipe, recipes_detail::mutex_rule, recipes_detail::ContenderKind::exclusive,
        options.promoted->path, {},
        recipes_detail::ObservedAs{recipes_detail::observed_mutex, options.promoted->path});
  }
  auto value = std::make_shared<recipes_detail::SharedNode>(recipes_detail::SharedNode{
      .client = client.share(), .path = std::move(path), .seed = std::move(seed)});
  return std::make_shared<recipes_detail::AtomicNode>(recipes_detail::AtomicNode{
      .value = std::move(value), .options = std::move(options), .lock = std::move(lock)});
}

/// The deadline of a blocking write, and the error if no thread runs the client's context until
/// then.
BlockingLimit limit_of(const OperationOptions& options) {
  return {options.deadline, Errc::deadline_exceeded_outcome_unknown};
}

}  // namespace

template <typename T>
BasicDistributedAtomic<T>::BasicDistributedAtomic(const Client& client, std::string_view recipe,
                                                  std::string path, UpdateOptions options)
    : core_{client.core()},
      node_{make_node(client, recipe, std::move(path), recipes_detail::encode_atomic(T{}),
                      std::move(options))} {}

template <typename T>
const std::string& BasicDistributedAtomic<T>::path() const noexcept {
  return node_->value->path;
}

template <typename T>
Versioned<T> BasicDistributedAtomic<T>::load(OperationOptions options) const {
  return block_in_time_or_throw<&recipes_detail::start_atomic_load<T>, Versioned<T>>(
      core_, "load", path(), {}, {options.deadline}, node_, options);
}

template <typename T>
void BasicDistributedAtomic<T>::store(const T& desired, OperationOptions options) {
  recipes_detail::check_atomic(node_, desired);
  block_in_time_or_throw<&recipes_detail::start_atomic_store<T>>(
      core_, "store", path(), {}, limit_of(options), node_, desired, options);
}

template <typename T>
bool BasicDistributedAtomic<T>::initialize(const T& first, OperationOptions options) {
  recipes_detail::check_atomic(node_, first);
  return block_in_time_or_throw<&recipes_detail::start_atomic_initialize<T>, bool>(
      core_, "initialize", path(), {}, limit_of(options), node_, first, options);
}

template <typename T>
Updated<T> BasicDistributedAtomic<T>::change(std::string_view operation, Change what,
                                             OperationOptions options) {
  recipes_detail::check_atomic(node_, what.operand);
  return block_in_time_or_throw<&recipes_detail::start_atomic_change<T>, Updated<T>>(
      core_, operation, path(), {}, limit_of(options), node_, std::move(what), options);
}

template <typename T>
Updated<T> BasicDistributedAtomic<T>::exchange(const T& desired, OperationOptions options) {
  return change("exchange", {Kind::exchange, desired}, options);
}

template <typename T>
bool BasicDistributedAtomic<T>::compare_exchange(Versioned<T>& expected, const T& desired,
                                                 OperationOptions options) {
  recipes_detail::check_atomic(node_, desired);
  Updated<T> ended =
      block_in_time_or_throw<&recipes_detail::start_atomic_compare_exchange<T>, Updated<T>>(
          core_, "compare_exchange", path(), {}, limit_of(options), node_, expected, desired,
          options);
  expected = std::move(ended.after);
  return ended.written;
}

template <typename T>
bool BasicDistributedAtomic<T>::compare_exchange(T& expected, const T& desired,
                                                 OperationOptions options) {
  Updated<T> ended =
      change("compare_exchange", {Kind::exchange_if_equal, desired, expected}, options);
  if (!ended.written) expected = std::move(ended.before.value);
  return ended.written;
}

template <typename T>
Updated<T> BasicDistributedAtomic<T>::update(std::function<std::optional<T>(const T&)> function,
                                             OperationOptions options) {
  return block_in_time_or_throw<&recipes_detail::start_atomic_update<T>, Updated<T>>(
      core_, "update", path(), {}, limit_of(options), node_, std::move(function), options);
}

template <typename T>
Updated<T> BasicDistributedAtomic<T>::fetch_add(
    T operand, OperationOptions options) requires std::integral<T> {
  return change("fetch_add", {Kind::add, operand}, options);
}

template <typename T>
Updated<T> BasicDistributedAtomic<T>::fetch_sub(
    T operand, OperationOptions options) requires std::integral<T> {
  return change("fetch_sub", {Kind::add, negated(operand)}, options);
}

template <typename T>
Updated<T> BasicDistributedAtomic<T>::fetch_max(
    T operand, OperationOptions options) requires std::integral<T> {
  return change("fetch_max", {Kind::raise, operand}, options);
}

template <typename T>
Updated<T> BasicDistributedAtomic<T>::fetch_min(
    T operand, OperationOptions options) requires std::integral<T> {
  return change("fetch_min", {Kind::lower, operand}, options);
}

template class BasicDistributedAtomic<std::string>;
template class BasicDistributedAtomic<std::int32_t>;
template class BasicDistributedAtomic<std::int64_t>;

namespace recipes_detail {

// A type cannot be enclosed in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define CUSTODIAN_ATOMIC_OF(T)                                                                   \
  template void check_atomic(const AtomicNodePtr&, const T&);                                    \
  template void start_atomic_load(CorePtr, CancellationPtr, AtomicNodePtr, OperationOptions,     \
                                  Handler<Versioned<T>>);                                        \
  template void start_atomic_store(CorePtr, CancellationPtr, AtomicNodePtr, T, OperationOptions, \
                                   Handler<>);                                                   \
  template void start_atomic_initialize(CorePtr, CancellationPtr, AtomicNodePtr, T,              \
                                        OperationOptions, Handler<bool>);                        \
  template void start_atomic_change(CorePtr, CancellationPtr, AtomicNodePtr, AtomicChange<T>,    \
                                    OperationOptions, Handler<Updated<T>>);                      \
  template void start_atomic_compare_exchange(CorePtr, CancellationPtr, AtomicNodePtr,           \
                                              Versioned<T>, T, OperationOptions,                 \
                                              Handler<Updated<T>>);                              \
  template void start_atomic_update(CorePtr, CancellationPtr, AtomicNodePtr, AtomicFunction<T>,  \
                                    OperationOptions, Handler<Updated<T>>)
// NOLINTEND(bugprone-macro-parentheses)

CUSTODIAN_ATOMIC_OF(std::string);
CUSTODIAN_ATOMIC_OF(std::int32_t);
CUSTODIAN_ATOMIC_OF(std::int64_t);

#undef CUSTODIAN_ATOMIC_OF

}  // namespace recipes_detail

}  // namespace custodian
