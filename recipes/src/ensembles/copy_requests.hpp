#pragma once

/// \file
/// The requests about the copy of a moving map at one ensemble, and about its members. Coroutines
/// on the strand of that ensemble's client.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "custodian/authoring/result.hpp"
#include "custodian/client.hpp"
#include "ensembles/map_copy.hpp"

namespace custodian::recipes_detail {

/// The copy at one ensemble. Immutable.
struct CopyPlace {
  std::string name;  ///< of the ensemble
  Client client;
  std::string path;  ///< of the copy
  /// What this process' members are called behind their sessions, which operators know them by.
  std::string member;
};
using CopyPlacePtr = std::shared_ptr<const CopyPlace>;

/// Whether an error of a request is worth another try: another answer may come. Not if the servers
/// refuse, and not if the client or the call is at its end.
[[nodiscard]] bool is_passing(const error_code& error) noexcept;

/// A copy, as it was read.
struct CopyRead {
  std::optional<MapCopy> copy{};  ///< nothing if there is none
  std::int32_t data_version = 0;  ///< of the node
  /// The session that has read it; 0 if it has ended since.
  std::int64_t session = 0;
};

/// Reads the copy. Errors: malformed_data, and those of the client.
[[nodiscard]] boost::asio::awaitable<Result<CopyRead>> read_copy(CopyPlacePtr place,
                                                                 CancellationPtr cancellation,
                                                                 OperationOptions limits = {});

/// A session as a member of its ensemble.
struct Membership {
  std::int64_t session = 0;
  std::int64_t version = 0;  ///< what it has announced
  MapCopy copy{};            ///< the copy with which it has joined
};

/// Makes the client's present session a member, under the greater of the copy's version and
/// `known`. Waits for the connection, and for the copy. Goes on until it is cancelled, or an error
/// does not pass.
[[nodiscard]] boost::asio::awaitable<Result<Membership>> join_map(CopyPlacePtr place,
                                                                  std::int64_t known,
                                                                  CancellationPtr cancellation);

/// Removes a member, in the background. Any thread.
void leave_map(const CopyPlace& place, std::int64_t session, std::int64_t version) noexcept;

/// What follows from a transaction that announces a version.
enum class Announced {
  yes,
  session_lost,  ///< the session is not the client's any more
};

/// Announces a version for a member, whose ensemble must have it in its copy: a join of an earlier
/// version that is applied late would be a second member otherwise.
[[nodiscard]] boost::asio::awaitable<Result<Announced>> announce(CopyPlacePtr place,
                                                                 std::int64_t session,
                                                                 std::int64_t former,
                                                                 std::int64_t version,
                                                                 CancellationPtr cancellation);

/// What a look at the members of an ensemble has found.
enum class MemberLook {
  all_announced,  ///< none has announced less than the version
  behind,
};

/// Whether no member has announced less than `version`, as this session sees it, which must be the
/// client's during the look (session_lost).
[[nodiscard]] boost::asio::awaitable<Result<MemberLook>> look_at_members(
    CopyPlacePtr place, std::int64_t version, std::int64_t session, CancellationPtr cancellation);

/// The result of a request that has none but an error.
struct RequestDone {};

/// Makes the folder for members that announce a version.
[[nodiscard]] boost::asio::awaitable<Result<RequestDone>> make_folder(CopyPlacePtr place,
                                                                      std::int64_t version,
                                                                      CancellationPtr cancellation);
/// Removes a folder that has no members; leaves any other.
[[nodiscard]] boost::asio::awaitable<Result<RequestDone>> remove_folder(
    CopyPlacePtr place, std::int64_t version, CancellationPtr cancellation);

/// Writes the copy in the place of the one that was read; creates it, with the folder of its
/// version, if there was none. Errors: bad_version, no_node or node_exists if it has changed.
[[nodiscard]] boost::asio::awaitable<Result<RequestDone>> write_copy(CopyPlacePtr place,
                                                                     CopyRead read, MapCopy next,
                                                                     CancellationPtr cancellation);

}  // namespace custodian::recipes_detail
