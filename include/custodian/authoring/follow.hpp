#pragma once

/// \file
/// These functions follow nodes: read, compare, wait for the watch, read again. For authors of
/// recipes, and for coroutines on the client's strand only.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/error.hpp"
#include "custodian/export.hpp"
#include "custodian/node.hpp"
#include "custodian/operation_options.hpp"
#include "custodian/watch.hpp"

namespace custodian {

/// The result of a read, and the watch that the read has armed. The watch is empty if the read
/// armed none.
template <typename T>
struct Watched {
  /// The result of the read.
  T value;  // NOLINT(cppcoreguidelines-pro-type-member-init): not every T has a default
  /// The watch that the read has armed.
  Watch watch{};
};

/// Whether a read arms a watch.
enum class Watching : std::uint8_t { no, yes };

/// Reads a node's data. Errors: no_node, and those common to all operations.
[[nodiscard]] CUSTODIAN_EXPORT boost::asio::awaitable<Result<Watched<GetResult>>> read_data(
    CorePtr core, CancellationPtr cancellation, std::string path, OperationOptions options,
    Watching watching);

/// Reads the names of a node's children. Errors: no_node, and those common to all operations.
[[nodiscard]] CUSTODIAN_EXPORT boost::asio::awaitable<Result<Watched<Children>>> read_children(
    CorePtr core, CancellationPtr cancellation, std::string path, OperationOptions options,
    Watching watching);

/// Reads whether a node exists. The watch of a node that does not exist ends when the node is
/// created.
/// Errors: those common to all operations.
[[nodiscard]] CUSTODIAN_EXPORT boost::asio::awaitable<Result<Watched<std::optional<Stat>>>>
read_existence(CorePtr core, CancellationPtr cancellation, std::string path,
               OperationOptions options, Watching watching);

/// Waits for the event of a watch, which must not be empty. When the session ends, and the watch
/// with it, the wait completes without an error, too: read again in both cases. Errors:
/// operation_aborted, closed.
[[nodiscard]] CUSTODIAN_EXPORT boost::asio::awaitable<error_code> until_changed(
    CorePtr core, CancellationPtr cancellation, const Watch& watch);

/// Reads again and again, and completes with the first read that is news. `read()` is a coroutine
/// that reads with a watch and gives a `Result<Watched<T>>`, with as many requests as that takes;
/// `is_news(const T&)` decides whether its result is news. If `watch`, which an earlier read has
/// armed, is not empty, next_news() first waits for its event. Several changes between two reads
/// are seen as one, and a server that lags behind may show an earlier state again. So `is_news`
/// should compare the order of the changes (by `Stat::mzxid`, for example), and not only look for a
/// difference. A deadline of the reads does not limit the wait between them; only the cancellation
/// ends it.
/// Errors: those of `read()`, operation_aborted, closed.
template <typename T, typename Read, typename IsNews>
boost::asio::awaitable<Result<Watched<T>>> next_news(CorePtr core, CancellationPtr cancellation,
                                                     Watch watch, Read read, IsNews is_news) {
  for (;;) {
    if (watch) {
      const error_code ended = co_await until_changed(core, cancellation, watch);
      if (ended) co_return ended;
    }
    Result<Watched<T>> seen = co_await read();
    if (!seen || is_news(seen->value)) co_return seen;
    watch = std::move(seen->watch);
  }
}

}  // namespace custodian
