#pragma once

/// \file
/// The node behind a SharedValue or a SharedCount, for recipes that follow one.

#include <boost/asio/awaitable.hpp>
#include <tuple>

#include "custodian/recipes/basic_shared_value.hpp"

namespace custodian::recipes_detail {

/// Immutable.
struct SharedNode {
  Client client;
  std::string path;
  std::string seed;  ///< as bytes
};

/// Reads the value and watches it, having created the node with its seed if it was missing. The
/// watch ends with the next change, a deletion included. Strand only. Without an error there is a
/// watch; with one (malformed_data, for instance) there is none. Hand it a deadline: a default one
/// begins anew with each request.
///
/// For std::string and std::int32_t.
template <typename T>
[[nodiscard]] boost::asio::awaitable<std::tuple<error_code, Versioned<T>, Watch>> read_and_watch(
    SharedNodePtr node, CancellationPtr cancellation, OperationOptions options);

}  // namespace custodian::recipes_detail
