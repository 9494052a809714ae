#include "shared/shared_node.hpp"

#include <utility>

#include "shared/big_endian.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// Arguments in a co_await expression below are named objects, or trivial: g++ 12 destroys some
// temporaries there twice.

namespace {

// -- Values and bytes -----------------------------------------------------------------------------

std::string encode(const std::string& value) { return value; }
std::string encode(std::int32_t value) { return to_big_endian(value); }

bool decode(std::string bytes, std::string& value) {
  value = std::move(bytes);
  return true;
}
bool decode(const std::string& bytes, std::int32_t& value) {
  const auto number = from_big_endian<std::int32_t>(bytes);
  value = number.value_or(0);
  return number.has_value();
}

}  // namespace

Sighting sighting_of(const SharedNode& node, const Stat& stat) {
  return {stat.mzxid, node.client.session().id};
}

template <typename T>
std::tuple<error_code, Versioned<T>> understood(const SharedNode& node, error_code error,
                                                GetResult found) {
  Versioned<T> value;
  if (!error && !decode(std::move(found.data), value.value)) error = Errc::malformed_data;
  if (error) return {error, Versioned<T>{}};
  value.version = found.stat.version;
  value.mzxid = found.stat.mzxid;
  node.newest->note({sighting_of(node, found.stat), value.version, encode(value.value)});
  return {error, std::move(value)};
}

template <typename T>
std::optional<Versioned<T>> last_known(const SharedNode& node) {
  auto newest = node.newest->get();
  if (!newest) return std::nullopt;
  Versioned<T> value{.version = newest->version, .mzxid = newest->sighting.mzxid};
  decode(std::move(newest->bytes), value.value);
  return value;
}

namespace {

// -- Bytes and the node ---------------------------------------------------------------------------

/// Creates the node with its seed. Without an error it is there, or the reply was lost: look again.
asio::awaitable<error_code> create_with_seed(SharedNodePtr node, CancellationPtr cancellation,
                                             OperationOptions options) {
  CreateOptions as_planned{.parents = Parents::created_as_containers,
                           .deadline = options.deadline,
                           .retry = options.retry};
  auto [error, created] = co_await await<&detail::start_create, Created>(
      node->client.core(), cancellation, node->path, node->seed, std::move(as_planned));
  if (error == ServerErrc::node_exists || error == ServerErrc::connection_loss) error.clear();
  // Created or not, a node that is missing counts as its seed.
  if (error == Errc::deadline_exceeded_outcome_unknown) error = Errc::deadline_exceeded;
  co_return error;
}

enum class Watching { no, yes };

using Found = std::tuple<error_code, GetResult, Watch>;

asio::awaitable<Found> look(SharedNodePtr node, CancellationPtr cancellation,
                            OperationOptions options, Watching watching) {
  const auto core = node->client.core();
  const std::string path = node->path;
  if (watching == Watching::yes) {
    Found watched = co_await await<&detail::start_get_and_watch, GetResult, Watch>(
        core, cancellation, path, options);
    co_return watched;
  }
  auto [error, result] =
      co_await await<&detail::start_get, GetResult>(core, cancellation, path, options);
  co_return Found{error, std::move(result), Watch{}};
}

asio::awaitable<Found> read(SharedNodePtr node, CancellationPtr cancellation,
                            OperationOptions options, Watching watching) {
  for (;;) {
    Found found = co_await look(node, cancellation, options, watching);
    if (std::get<0>(found) != ServerErrc::no_node) co_return found;
    const error_code error = co_await create_with_seed(node, cancellation, options);
    if (error) co_return Found{error, GetResult{}, Watch{}};
  }
}

asio::awaitable<error_code> write(SharedNodePtr node, CancellationPtr cancellation,
                                  std::string desired, OperationOptions options) {
  const auto core = node->client.core();
  const std::string path = node->path;
  const SetOptions whatever_is_there{.deadline = options.deadline, .retry = options.retry};
  for (;;) {
    const auto [error, stat] = co_await await<&detail::start_set, Stat>(core, cancellation, path,
                                                                        desired, whatever_is_there);
    if (!error) node->newest->note({sighting_of(*node, stat), stat.version, desired});
    if (error != ServerErrc::no_node) co_return error;
    // With the seed, so that version 0 is never anything else.
    const error_code missing = co_await create_with_seed(node, cancellation, options);
    if (missing) co_return missing;
  }
}

struct Exchange {
  error_code error{};
  bool written = false;
  GetResult now{};
};

asio::awaitable<Exchange> exchange(SharedNodePtr node, CancellationPtr cancellation,
                                   ExpectedVersion expected, std::string desired,
                                   OperationOptions options) {
  // To the servers -1 is "whatever is there".
  if (expected.mzxid != 0 && expected.version != any_version) {
    const auto core = node->client.core();
    const std::string path = node->path;
    const SetOptions if_unchanged{
        .version = expected.version, .deadline = options.deadline, .retry = options.retry};
    const auto [error, stat] =
        co_await await<&detail::start_set, Stat>(core, cancellation, path, desired, if_unchanged);
    if (!error) co_return Exchange{.written = true, .now = {std::move(desired), stat}};
    const bool refused = error == ServerErrc::bad_version || error == ServerErrc::no_node;
    if (!refused) co_return Exchange{.error = error};
  }
  auto [error, found, watch] = co_await read(node, cancellation, options, Watching::no);
  co_return Exchange{.error = error, .now = std::move(found)};
}

}  // namespace

asio::awaitable<Found> next_news(SharedNodePtr node, CancellationPtr cancellation, Sighting seen,
                                 Watch watch) {
  const auto core = node->client.core();
  const OperationOptions patient{Deadline::never(), node->client.retry_policy().unlimited()};
  for (;;) {
    if (watch) {
      const auto [ended, event] =
          co_await await<&detail::start_wait, WatchEventType>(core, cancellation, watch.state());
      // A session that is over has taken the watch along; the next look shows what was missed.
      if (ended && ended != Errc::session_lost) co_return Found{ended, GetResult{}, Watch{}};
    }
    Found found = co_await read(node, cancellation, patient, Watching::yes);
    auto& [error, result, armed] = found;
    if (error || is_news(seen, sighting_of(*node, result.stat))) co_return found;
    watch = std::move(armed);
  }
}

namespace {

// -- From start to end ----------------------------------------------------------------------------

template <typename T>
using HandlerPtr = std::shared_ptr<Handler<T>>;

template <typename T>
asio::awaitable<void> load(SharedNodePtr node, CancellationPtr cancellation,
                           OperationOptions options, HandlerPtr<Versioned<T>> handler) {
  auto [error, found, watch] = co_await read(node, cancellation, options, Watching::no);
  auto [verdict, value] = understood<T>(*node, error, std::move(found));
  std::move (*handler)(verdict, std::move(value));
}

asio::awaitable<void> store(SharedNodePtr node, CancellationPtr cancellation, std::string desired,
                            OperationOptions options, std::shared_ptr<Handler<>> handler) {
  const error_code error = co_await write(node, cancellation, std::move(desired), options);
  std::move (*handler)(error);
}

template <typename T>
asio::awaitable<void> compare_exchange(SharedNodePtr node, CancellationPtr cancellation,
                                       ExpectedVersion expected, std::string desired,
                                       OperationOptions options,
                                       std::shared_ptr<Handler<bool, Versioned<T>>> handler) {
  Exchange ended = co_await exchange(node, cancellation, expected, std::move(desired), options);
  auto [error, now] = understood<T>(*node, ended.error, std::move(ended.now));
  std::move (*handler)(error, ended.written, std::move(now));
}

template <typename T>
asio::awaitable<void> wait_newer(SharedNodePtr node, CancellationPtr cancellation,
                                 std::int64_t known_mzxid, HandlerPtr<Versioned<T>> handler) {
  // Later, and not only another: a server that is behind may show an earlier one.
  const Sighting known{known_mzxid};
  Watch none;
  auto [error, found, watch] = co_await next_news(node, cancellation, known, std::move(none));
  watch = Watch{};  // off the server before its user goes on
  auto [verdict, value] = understood<T>(*node, error, std::move(found));
  std::move (*handler)(verdict, std::move(value));
}

/// Runs `story(handler)`, a coroutine, on the strand; nobody runs it in a forked child.
template <typename... Results, typename Story>
void run_on_strand(const Client& client, Handler<Results...> handler, Story story) {
  if (client.unusable() == Errc::forked) return std::move(handler)(Errc::forked, Results{}...);
  const auto ending = std::make_shared<Handler<Results...>>(std::move(handler));
  detail::spawn_detached(client.core(), story(ending), "a shared value", ending);
}

/// One deadline for all the requests of an operation.
OperationOptions with_deadline(const Client& client, OperationOptions options) {
  options.deadline = client.deadline_or_default(options.deadline);
  return options;
}

}  // namespace

template <typename T>
std::string bytes_for(const SharedNodePtr& node, const T& value) {
  std::string bytes = encode(value);
  detail::check_set(node->client.core(), node->path, bytes);
  return bytes;
}

template <typename T>
void start_load(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                SharedNodePtr node, OperationOptions options, Handler<Versioned<T>> handler) {
  const Client& client = node->client;
  run_on_strand(client, std::move(handler), [&](auto ending) {
    return load<T>(node, std::move(cancellation), with_deadline(client, options),
                   std::move(ending));
  });
}

void start_store(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                 SharedNodePtr node, std::string desired, OperationOptions options,
                 Handler<> handler) {
  const Client& client = node->client;
  run_on_strand(client, std::move(handler), [&](auto ending) {
    return store(node, std::move(cancellation), std::move(desired), with_deadline(client, options),
                 std::move(ending));
  });
}

template <typename T>
void start_compare_exchange(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                            SharedNodePtr node, ExpectedVersion expected, std::string desired,
                            OperationOptions options, Handler<bool, Versioned<T>> handler) {
  const Client& client = node->client;
  run_on_strand(client, std::move(handler), [&](auto ending) {
    return compare_exchange<T>(node, std::move(cancellation), expected, std::move(desired),
                               with_deadline(client, options), std::move(ending));
  });
}

template <typename T>
void start_wait_newer(std::shared_ptr<detail::ClientCore>, CancellationPtr cancellation,
                      SharedNodePtr node, std::int64_t known_mzxid, Handler<Versioned<T>> handler) {
  run_on_strand(node->client, std::move(handler), [&](auto ending) {
    return wait_newer<T>(node, std::move(cancellation), known_mzxid, std::move(ending));
  });
}

template <typename T>
asio::awaitable<std::tuple<error_code, Versioned<T>, Watch>> read_and_watch(
    SharedNodePtr node, CancellationPtr cancellation, OperationOptions options) {
  auto [error, found, watch] = co_await read(node, cancellation, options, Watching::yes);
  auto [verdict, value] = understood<T>(*node, error, std::move(found));
  if (verdict) watch = Watch{};
  co_return std::tuple{verdict, std::move(value), std::move(watch)};
}

template std::string bytes_for(const SharedNodePtr&, const std::string&);
template std::tuple<error_code, Versioned<std::string>> understood(const SharedNode&, error_code,
                                                                   GetResult);
template std::optional<Versioned<std::string>> last_known(const SharedNode&);
template void start_load(std::shared_ptr<detail::ClientCore>, CancellationPtr, SharedNodePtr,
                         OperationOptions, Handler<Versioned<std::string>>);
template void start_compare_exchange(std::shared_ptr<detail::ClientCore>, CancellationPtr,
                                     SharedNodePtr, ExpectedVersion, std::string, OperationOptions,
                                     Handler<bool, Versioned<std::string>>);
template void start_wait_newer(std::shared_ptr<detail::ClientCore>, CancellationPtr, SharedNodePtr,
                               std::int64_t, Handler<Versioned<std::string>>);
template asio::awaitable<std::tuple<error_code, Versioned<std::string>, Watch>> read_and_watch(
    SharedNodePtr, CancellationPtr, OperationOptions);

template std::string bytes_for(const SharedNodePtr&, const std::int32_t&);
template std::tuple<error_code, Versioned<std::int32_t>> understood(const SharedNode&, error_code,
                                                                    GetResult);
template std::optional<Versioned<std::int32_t>> last_known(const SharedNode&);
template void start_load(std::shared_ptr<detail::ClientCore>, CancellationPtr, SharedNodePtr,
                         OperationOptions, Handler<Versioned<std::int32_t>>);
template void start_compare_exchange(std::shared_ptr<detail::ClientCore>, CancellationPtr,
                                     SharedNodePtr, ExpectedVersion, std::string, OperationOptions,
                                     Handler<bool, Versioned<std::int32_t>>);
template void start_wait_newer(std::shared_ptr<detail::ClientCore>, CancellationPtr, SharedNodePtr,
                               std::int64_t, Handler<Versioned<std::int32_t>>);
template asio::awaitable<std::tuple<error_code, Versioned<std::int32_t>, Watch>> read_and_watch(
    SharedNodePtr, CancellationPtr, OperationOptions);

}  // namespace custodian::recipes_detail
