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
  std::string name;  ///< the ensemble's name
  Client client;
  std::string path;  ///< the path of the copy
  /// The text behind the session's id in the names of this process' member nodes. Operators know
  /// the process by it.
  std::string member;
};
using CopyPlacePtr = std::shared_ptr<const CopyPlace>;

/// Whether a request that failed with this error is worth another try. It is not if the servers
/// refuse, or if the client or the call is at its end.
[[nodiscard]] bool is_passing(const error_code& error) noexcept;

/// A copy, as it was read.
struct CopyRead {
  std::optional<MapCopy> copy{};  ///< nothing if there is none
  std::int32_t data_version = 0;  ///< the version of the node's data
  /// The session in which the copy was read; 0 if that session has ended since.
  std::int64_t session = 0;
};

/// Reads the copy. Errors: malformed_data, and those of the client.
[[nodiscard]] boost::asio::awaitable<Result<CopyRead>> read_copy(CopyPlacePtr place,
                                                                 CancellationPtr cancellation,
                                                                 OperationOptions limits = {});

/// A session as a member of its ensemble.
struct Membership {
  std::int64_t session = 0;
  std::int64_t version = 0;  ///< the version that the member has announced
  MapCopy copy{};            ///< the copy that the session had read when it joined
};

/// Makes the client's present session a member, which announces the greater of the copy's version
/// and `known`. Waits for a connection, and for the copy. Goes on until it is cancelled, or fails
/// with an error that is not passing.
[[nodiscard]] boost::asio::awaitable<Result<Membership>> join_map(CopyPlacePtr place,
                                                                  std::int64_t known,
                                                                  CancellationPtr cancellation);

/// Removes a member, in the background. Any thread.
void leave_map(const CopyPlace& place, std::int64_t session, std::int64_t version) noexcept;

/// The result of a transaction that announces a version.
enum class Announced {
  yes,
  session_lost,  ///< the session is not the client's any more
};

/// Announces a version for a member. The copy of its ensemble must have that version already:
/// otherwise a join of an earlier version, applied late, would make a second member.
[[nodiscard]] boost::asio::awaitable<Result<Announced>> announce(CopyPlacePtr place,
                                                                 std::int64_t session,
                                                                 std::int64_t former,
                                                                 std::int64_t version,
                                                                 CancellationPtr cancellation);

/// What a look at the members of an ensemble has found.
enum class MemberLook {
  all_announced,  ///< no member has announced less than the version
  behind,
};

/// Whether all members have announced `version` or more, as `session` sees it. Fails with
/// session_lost if the client has another session during the look.
[[nodiscard]] boost::asio::awaitable<Result<MemberLook>> look_at_members(
    CopyPlacePtr place, std::int64_t version, std::int64_t session, CancellationPtr cancellation);

/// The result of a request that has only an error.
struct RequestDone {};

/// Creates the folder for the members that announce this version.
[[nodiscard]] boost::asio::awaitable<Result<RequestDone>> make_folder(CopyPlacePtr place,
                                                                      std::int64_t version,
                                                                      CancellationPtr cancellation);
/// Removes the folder of this version if it has no members.
[[nodiscard]] boost::asio::awaitable<Result<RequestDone>> remove_folder(
    CopyPlacePtr place, std::int64_t version, CancellationPtr cancellation);

/// Replaces the copy that was read; if there was none, creates it, and the folder of its version.
/// Errors: bad_version, no_node or node_exists if another client has changed it.
[[nodiscard]] boost::asio::awaitable<Result<RequestDone>> write_copy(CopyPlacePtr place,
                                                                     CopyRead read, MapCopy next,
                                                                     CancellationPtr cancellation);

}  // namespace custodian::recipes_detail
