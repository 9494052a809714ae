#pragma once

/// \file
/// SharedNode is the node behind a SharedValue, a SharedCount or a distributed atomic, for recipes
/// that read or follow one.

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>

#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/shared/basic_shared_value.hpp"
#include "shared/newest_value.hpp"

namespace custodian::recipes_detail {

/// A shared node. Immutable, except the newest value.
struct SharedNode {
  Client client;
  std::string path;
  std::string seed;  ///< the initial value, as bytes
  std::shared_ptr<NewestValue> newest = std::make_shared<NewestValue>();
};

/// Creates the node with its seed, and containers above it. Without an error the node exists, or
/// the reply was lost: the caller repeats its own request. Called on the strand only.
[[nodiscard]] boost::asio::awaitable<error_code> create_with_seed(SharedNodePtr node,
                                                                  CancellationPtr cancellation,
                                                                  OperationOptions options);

/// Reads the node's data. A missing node is created with its seed first. Called on the strand only.
[[nodiscard]] boost::asio::awaitable<Result<Watched<GetResult>>> read(SharedNodePtr node,
                                                                      CancellationPtr cancellation,
                                                                      OperationOptions options,
                                                                      Watching watching);

/// Reads the value and watches it. A missing node is created with its seed first. The watch ends
/// with the next change, a deletion included. Without an error there is a watch; with an error
/// (malformed_data, for instance) there is none. Pass a deadline: the default one begins anew with
/// each request. Called on the strand only.
///
/// For std::string and std::int32_t.
template <typename T>
[[nodiscard]] boost::asio::awaitable<Result<Watched<Versioned<T>>>> read_and_watch(
    SharedNodePtr node, CancellationPtr cancellation, OperationOptions options);

/// Waits for news, through disconnections and lost sessions, and returns it with a watch. `watch`
/// is the watch of the previous news, or empty. With an error there is no watch. Called on the
/// strand only.
[[nodiscard]] boost::asio::awaitable<Result<Watched<GetResult>>> next_news_of(
    SharedNodePtr node, CancellationPtr cancellation, Sighting seen, Watch watch);

/// The sighting of a reading that was made just now, in the client's present session.
[[nodiscard]] Sighting sighting_of(const SharedNode& node, const Stat& stat);

/// The value in a node's data, or malformed_data. Notes it as the newest value. For std::string and
/// std::int32_t.
template <typename T>
[[nodiscard]] Result<Versioned<T>> understood(const SharedNode& node, GetResult found);

/// The newest value that was read or written, if there is one. Threads: any. For std::string and
/// std::int32_t.
template <typename T>
[[nodiscard]] std::optional<Versioned<T>> last_known(const SharedNode& node);

}  // namespace custodian::recipes_detail
