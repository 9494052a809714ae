#pragma once

/// \file
/// SharedNode is the node behind a SharedValue or a SharedCount, for recipes that follow one.

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>

#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/shared/basic_shared_value.hpp"
#include "shared/newest_value.hpp"

namespace custodian::recipes_detail {

/// Immutable, except the newest value.
struct SharedNode {
  Client client;
  std::string path;
  std::string seed;  ///< as bytes
  std::shared_ptr<NewestValue> newest = std::make_shared<NewestValue>();
};

/// Reads the value and watches it, having created the node with its seed if it was missing. The
/// watch ends with the next change, a deletion included. Strand only. Without an error there is a
/// watch; with one (malformed_data, for instance) there is none. Hand it a deadline: a default one
/// begins anew with each request.
///
/// For std::string and std::int32_t.
template <typename T>
[[nodiscard]] boost::asio::awaitable<Result<Watched<Versioned<T>>>> read_and_watch(
    SharedNodePtr node, CancellationPtr cancellation, OperationOptions options);

/// Waits until there is news, and returns it with a watch, through disconnections and lost
/// sessions. `watch` is that of the news before, or none. With an error there is no watch. Strand
/// only.
[[nodiscard]] boost::asio::awaitable<Result<Watched<GetResult>>> next_news_of(
    SharedNodePtr node, CancellationPtr cancellation, Sighting seen, Watch watch);

/// The reading that was made just now.
[[nodiscard]] Sighting sighting_of(const SharedNode& node, const Stat& stat);

/// The value in a node's data, or why there is none; notes it as the newest one. For std::string
/// and std::int32_t.
template <typename T>
[[nodiscard]] Result<Versioned<T>> understood(const SharedNode& node, GetResult found);

/// The newest value that was read or written, if there is one. Any thread. For std::string and
/// std::int32_t.
template <typename T>
[[nodiscard]] std::optional<Versioned<T>> last_known(const SharedNode& node);

}  // namespace custodian::recipes_detail
