#pragma once

/// \file
/// The options and the states of a mirror.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

#include "custodian/export.hpp"

namespace custodian {

/// Whether a mirror reads and keeps the data of nodes.
enum class MirrorData : std::uint8_t {
  /// The data are kept.
  kept,
  /// Only metadata are read and kept. Changes of the data are reported all the same.
  not_kept,
};

/// What a mirror looks at.
struct MirrorOptions {
  /// A depth without a limit.
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// How many levels below its path a mirror looks at: 0 is the node itself, 1 its children, too.
  /// NodeCache and PathChildrenCache ignore this option: their depths are 0 and 1.
  std::size_t depth = unlimited;
  /// Whether data are kept.
  MirrorData data = MirrorData::kept;
  /// Decides by its path whether a node is mirrored; nodes below a node that is not accepted are
  /// not mirrored either. Empty: every node. The function is not called for the mirror's own path.
  /// It must always return the same for a path. It runs on the client's strand: it must not block,
  /// and must not call the client or the mirror. A node for which it throws is not accepted, and
  /// the exception is logged.
  std::function<bool(std::string_view path)> accept{};
  /// The greatest number of nodes: a mirror of a larger tree ends, with
  /// `boost::system::errc::no_buffer_space`. The limit is a guard against a wrong path: each node
  /// takes memory here, and two watches on a server.
  std::size_t max_nodes = 100'000;
};

/// The state of a mirror.
///
///     loading --> synced <--> suspended      any --> closed
///                   |  ^
///                   v  |
///                resyncing <--> suspended
enum class MirrorState : std::uint8_t {
  loading,    ///< the tree is read for the first time: what is known is incomplete
  synced,     ///< every change that the servers have sent is known
  suspended,  ///< there is no connection: what is known may be out of date
  /// The session was lost: the tree is read again. What is known may be out of date.
  resyncing,
  closed,  ///< the client is closed, or the mirror could not go on; what is known stays readable
};

/// The name of the enumerator.
[[nodiscard]] CUSTODIAN_EXPORT std::string_view to_string(MirrorState state) noexcept;

}  // namespace custodian
