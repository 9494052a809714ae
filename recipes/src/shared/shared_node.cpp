#include "shared/shared_node.hpp"

#include <utility>

#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/spawn.hpp"
#include "shared/big_endian.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

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
Result<Versioned<T>> understood(const SharedNode& node, GetResult found) {
  Versioned<T> value;
  if (!decode(std::move(found.data), value.value)) return Errc::malformed_data;
  value.version = found.stat.version;
  value.mzxid = found.stat.mzxid;
  node.newest->note({sighting_of(node, found.stat), value.version, encode(value.value)});
  return value;
}

template <typename T>
std::optional<Versioned<T>> last_known(const SharedNode& node) {
  auto newest = node.newest->get();
  if (!newest) return std::nullopt;
  Versioned<T> value{.version = newest->version, .mzxid = newest->sighting.mzxid};
  decode(std::move(newest->bytes), value.value);
  return value;
}

// -- Bytes and the node ---------------------------------------------------------------------------

asio::awaitable<error_code> create_with_seed(SharedNodePtr node, CancellationPtr cancellation,
                                             OperationOptions options) {
  CreateOptions as_planned{.parents = Parents::created_as_containers,
                           .deadline = options.deadline,
                           .retry = options.retry};
  auto [error, created] = co_await await<&start_create, Created>(
      node->client.core(), cancellation, node->path, node->seed, std::move(as_planned));
  if (error == ServerErrc::node_exists || error == ServerErrc::connection_loss) error.clear();
  // A doubtful create does no harm: a missing node counts as one with its seed.
  if (error == Errc::deadline_exceeded_outcome_unknown) error = Errc::deadline_exceeded;
  co_return error;
}

asio::awaitable<Result<Watched<GetResult>>> read(SharedNodePtr node, CancellationPtr cancellation,
                                                 OperationOptions options, Watching watching) {
  const CorePtr core = node->client.core();
  const std::string path = node->path;
  for (;;) {
    Result<Watched<GetResult>> found =
        co_await read_data(core, cancellation, path, options, watching);
    if (found || found.error() != ServerErrc::no_node) co_return found;
    const error_code error = co_await create_with_seed(node, cancellation, options);
    if (error) co_return error;
  }
}

namespace {

using Found = Watched<GetResult>;

asio::awaitable<error_code> write(SharedNodePtr node, CancellationPtr cancellation,
                                  std::string desired, OperationOptions options) {
  const auto core = node->client.core();
  const std::string path = node->path;
  const SetOptions whatever_is_there{.deadline = options.deadline, .retry = options.retry};
  for (;;) {
    const auto [error, stat] =
        co_await await<&start_set, Stat>(core, cancellation, path, desired, whatever_is_there);
    if (!error) node->newest->note({sighting_of(*node, stat), stat.version, desired});
    // A write whose reply was lost is not repeated: the caller gets outcome_unknown.
    if (error != ServerErrc::no_node) co_return error;
    // The node is created with the seed, not with `desired`, so that version 0 is always a seed.
    const error_code missing = co_await create_with_seed(node, cancellation, options);
    if (missing) co_return missing;
  }
}

/// The data of the node after a compare_exchange, and whether that call has written them.
struct Exchange {
  bool written = false;
  GetResult now{};
};

asio::awaitable<Result<Exchange>> exchange(SharedNodePtr node, CancellationPtr cancellation,
                                           ExpectedVersion expected, std::string desired,
                                           OperationOptions options) {
  // Version -1 is not sent, because to the servers it means any version. A value of this version
  // never matches, so it is an error: a loop would go on for ever.
  if (expected.mzxid != 0 && expected.version != any_version) {
    const auto core = node->client.core();
    const std::string path = node->path;
    const SetOptions if_unchanged{
        .version = expected.version, .deadline = options.deadline, .retry = options.retry};
    const auto [error, stat] =
        co_await await<&start_set, Stat>(core, cancellation, path, desired, if_unchanged);
    if (!error) co_return Exchange{.written = true, .now = {std::move(desired), stat}};
    const bool refused = error == ServerErrc::bad_version || error == ServerErrc::no_node;
    if (!refused) co_return error;
  }
  Result<Found> found = co_await read(node, cancellation, options, Watching::no);
  if (!found) co_return found.error();
  const Stat& stat = found->value.stat;
  if (stat.version == any_version && stat.mzxid == expected.mzxid) {
    node->client.log(LogLevel::error, "cannot exchange " + node->path +
                                          ": its version is -1, after 2^32 writes, which no write "
                                          "can name; a store() makes it 0");
    co_return Errc::sequence_exhausted;
  }
  co_return Exchange{.now = std::move(found->value)};
}

}  // namespace

asio::awaitable<Result<Watched<GetResult>>> next_news_of(SharedNodePtr node,
                                                         CancellationPtr cancellation,
                                                         Sighting seen, Watch watch) {
  const OperationOptions patient{Deadline::never(), node->client.retry_policy().unlimited()};
  const auto read_again = [&] { return read(node, cancellation, patient, Watching::yes); };
  const auto is_later = [&](const GetResult& now) {
    return is_news(seen, sighting_of(*node, now.stat));
  };
  co_return co_await next_news<GetResult>(node->client.core(), cancellation, std::move(watch),
                                          read_again, is_later);
}

namespace {

// -- From start to end ----------------------------------------------------------------------------

template <typename T>
asio::awaitable<Result<Versioned<T>>> load(SharedNodePtr node, CancellationPtr cancellation,
                                           OperationOptions options) {
  Result<Found> found = co_await read(node, cancellation, options, Watching::no);
  if (!found) co_return found.error();
  co_return understood<T>(*node, std::move(found->value));
}

asio::awaitable<Result<void>> store(SharedNodePtr node, CancellationPtr cancellation,
                                    std::string desired, OperationOptions options) {
  const error_code error = co_await write(node, cancellation, std::move(desired), options);
  if (error) co_return error;
  co_return Result<void>{};
}

template <typename T>
asio::awaitable<Result<std::tuple<bool, Versioned<T>>>> compare_exchange(
    SharedNodePtr node, CancellationPtr cancellation, ExpectedVersion expected, std::string desired,
    OperationOptions options) {
  Result<Exchange> ended =
      co_await exchange(node, cancellation, expected, std::move(desired), options);
  if (!ended) co_return ended.error();
  Result<Versioned<T>> now = understood<T>(*node, std::move(ended->now));
  if (!now) co_return now.error();
  co_return std::tuple{ended->written, std::move(*now)};
}

template <typename T>
asio::awaitable<Result<Versioned<T>>> wait_newer(SharedNodePtr node, CancellationPtr cancellation,
                                                 std::int64_t known_mzxid) {
  // Only a later write ends the wait: a server that lags behind may show an earlier one.
  const Sighting known{known_mzxid};
  Watch none;
  Result<Found> found = co_await next_news_of(node, cancellation, known, std::move(none));
  if (!found) co_return found.error();
  co_return understood<T>(*node, std::move(found->value));
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
  check_set(node->client.core(), node->path, bytes);
  return bytes;
}

template <typename T>
void start_load(CorePtr, CancellationPtr cancellation, SharedNodePtr node, OperationOptions options,
                Handler<Versioned<T>> handler) {
  spawn(node->client.core(), "reading " + node->path,
        load<T>(node, std::move(cancellation), with_deadline(node->client, options)),
        std::move(handler));
}

void start_store(CorePtr, CancellationPtr cancellation, SharedNodePtr node, std::string desired,
                 OperationOptions options, Handler<> handler) {
  spawn(node->client.core(), "writing " + node->path,
        store(node, std::move(cancellation), std::move(desired),
              with_deadline(node->client, options)),
        std::move(handler));
}

template <typename T>
void start_compare_exchange(CorePtr, CancellationPtr cancellation, SharedNodePtr node,
                            ExpectedVersion expected, std::string desired, OperationOptions options,
                            Handler<bool, Versioned<T>> handler) {
  spawn(node->client.core(), "writing " + node->path,
        compare_exchange<T>(node, std::move(cancellation), expected, std::move(desired),
                            with_deadline(node->client, options)),
        std::move(handler));
}

template <typename T>
void start_wait_newer(CorePtr, CancellationPtr cancellation, SharedNodePtr node,
                      std::int64_t known_mzxid, Handler<Versioned<T>> handler) {
  Handler<Versioned<T>> bound = bound_to_context(node->client, std::move(handler));
  spawn(node->client.core(), "following " + node->path,
        wait_newer<T>(node, std::move(cancellation), known_mzxid), std::move(bound));
}

template <typename T>
asio::awaitable<Result<Watched<Versioned<T>>>> read_and_watch(SharedNodePtr node,
                                                              CancellationPtr cancellation,
                                                              OperationOptions options) {
  Result<Found> found = co_await read(node, cancellation, options, Watching::yes);
  if (!found) co_return found.error();
  Result<Versioned<T>> value = understood<T>(*node, std::move(found->value));
  if (!value) co_return value.error();
  co_return Watched<Versioned<T>>{std::move(*value), std::move(found->watch)};
}

template std::string bytes_for(const SharedNodePtr&, const std::string&);
template Result<Versioned<std::string>> understood(const SharedNode&, GetResult);
template std::optional<Versioned<std::string>> last_known(const SharedNode&);
template void start_load(CorePtr, CancellationPtr, SharedNodePtr, OperationOptions,
                         Handler<Versioned<std::string>>);
template void start_compare_exchange(CorePtr, CancellationPtr, SharedNodePtr, ExpectedVersion,
                                     std::string, OperationOptions,
                                     Handler<bool, Versioned<std::string>>);
template void start_wait_newer(CorePtr, CancellationPtr, SharedNodePtr, std::int64_t,
                               Handler<Versioned<std::string>>);
template asio::awaitable<Result<Watched<Versioned<std::string>>>> read_and_watch(SharedNodePtr,
                                                                                 CancellationPtr,
                                                                                 OperationOptions);

template std::string bytes_for(const SharedNodePtr&, const std::int32_t&);
template Result<Versioned<std::int32_t>> understood(const SharedNode&, GetResult);
template std::optional<Versioned<std::int32_t>> last_known(const SharedNode&);
template void start_load(CorePtr, CancellationPtr, SharedNodePtr, OperationOptions,
                         Handler<Versioned<std::int32_t>>);
template void start_compare_exchange(CorePtr, CancellationPtr, SharedNodePtr, ExpectedVersion,
                                     std::string, OperationOptions,
                                     Handler<bool, Versioned<std::int32_t>>);
template void start_wait_newer(CorePtr, CancellationPtr, SharedNodePtr, std::int64_t,
                               Handler<Versioned<std::int32_t>>);
template asio::awaitable<Result<Watched<Versioned<std::int32_t>>>> read_and_watch(SharedNodePtr,
                                                                                  CancellationPtr,
                                                                                  OperationOptions);

}  // namespace custodian::recipes_detail
