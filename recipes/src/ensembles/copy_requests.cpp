#include "ensembles/copy_requests.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <charconv>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "async/backoff.hpp"
#include "async/present_session.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"
#include "ensembles/plain_number.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

std::string folder_of_members(const CopyPlace& place) { return place.path + "/members"; }

std::string folder_of(const CopyPlace& place, std::int64_t version) {
  return folder_of_members(place) + "/" + std::to_string(version);
}

/// The versions of these folders that are below `version`, the lowest first.
std::set<std::int64_t> versions_below(std::int64_t version, const std::vector<std::string>& names) {
  std::set<std::int64_t> versions;
  for (const std::string& name : names) {
    const auto number = plain_number<std::int64_t>(name);
    if (number && *number < version) versions.insert(*number);
  }
  return versions;
}

std::string member_of(const CopyPlace& place, std::int64_t version, std::int64_t session) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<std::uint64_t>(session), 16);
  return folder_of(place, version) + "/" + std::string{digits.data(), end.ptr} + "-" + place.member;
}

asio::awaitable<error_code> commit_at(CopyPlacePtr place, Transaction transaction,
                                      CancellationPtr cancellation) {
  const OperationOptions limits;
  const CorePtr core = place->client.core();
  const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
      core, cancellation, transaction, limits);
  co_return error;
}

/// Creates the member's node, in a transaction that checks that the copy is still the one that was
/// read. While it is unknown whether a transaction was applied, it is sent again, until its node is
/// found, or until the copy has changed, so that it cannot be applied any more. If the session has
/// changed meanwhile, the node is removed: its name is the former session's.
asio::awaitable<error_code> create_member(CopyPlacePtr place, std::string node,
                                          std::int64_t session, std::int32_t copy_version,
                                          CancellationPtr cancellation) {
  for (int failures = 0;; ++failures) {
    if (failures > 0) {
      co_await back_off(place->client, failures - 1, Deadline::never(), cancellation);
    }
    const Transaction transaction{check(place->path, copy_version),
                                  create(node, {}, CreateMode::ephemeral)};
    error_code error = co_await commit_at(place, transaction, cancellation);
    if (place->client.session().id != session) {
      place->client.share().remove_in_background(node);
      co_return Errc::session_lost;
    }
    if (error == ServerErrc::node_exists) co_return error_code{};
    if (failures > 0 && (error == ServerErrc::bad_version || error == ServerErrc::no_node)) {
      const OperationOptions limits;
      const CorePtr core = place->client.core();
      const auto [unseen, stat] =
          co_await await<&start_exists, std::optional<Stat>>(core, cancellation, node, limits);
      if (!unseen && stat) co_return error_code{};
      if (unseen) error = unseen;
    }
    if (error == asio::error::operation_aborted) place->client.share().remove_in_background(node);
    const bool is_settled = failures == 0 || error == ServerErrc::bad_version ||
                            error == ServerErrc::no_node || !is_passing(error);
    if (error != ErrorCondition::outcome_unknown && (!error || is_settled)) co_return error;
  }
}

/// Waits until the copy exists, or may exist.
asio::awaitable<error_code> until_copied(CopyPlacePtr place, CancellationPtr cancellation) {
  const CorePtr core = place->client.core();
  const OperationOptions limits;
  const std::string path = place->path;
  auto seen = co_await read_existence(core, cancellation, path, limits, Watching::yes);
  if (!seen) co_return seen.error();
  if (seen->value) co_return error_code{};
  co_return co_await until_changed(core, cancellation, seen->watch);
}

}  // namespace

void leave_map(const CopyPlace& place, std::int64_t session, std::int64_t version) noexcept {
  place.client.share().remove_in_background(member_of(place, version, session));
}

bool is_passing(const error_code& error) noexcept {
  return error == ErrorCondition::retryable || error == ErrorCondition::outcome_unknown ||
         error == Errc::session_lost || error == ServerErrc::session_expired ||
         error == ServerErrc::bad_version || error == ServerErrc::no_node ||
         error == ServerErrc::node_exists;
}

asio::awaitable<Result<CopyRead>> read_copy(CopyPlacePtr place, CancellationPtr cancellation,
                                            OperationOptions limits) {
  const auto session = co_await present_session(place->client, cancellation, limits);
  if (!session) co_return session.error();
  const CorePtr core = place->client.core();
  const std::string path = place->path;
  const auto [error, found] =
      co_await await<&start_get, GetResult>(core, cancellation, path, limits);
  if (error && error != ServerErrc::no_node) co_return error;
  CopyRead read{.session = place->client.session().id == *session ? *session : 0};
  if (error) co_return read;
  auto decoded = decode_copy(found.data);
  if (const auto* const fault = std::get_if<LayoutFault>(&decoded)) {
    place->client.log(LogLevel::error, path + " of the ensemble " + place->name +
                                           " is no map that this version can read: " + fault->text);
    co_return Errc::malformed_data;
  }
  read.copy = std::get<MapCopy>(std::move(decoded));
  read.data_version = found.stat.version;
  co_return read;
}

asio::awaitable<Result<Membership>> join_map(CopyPlacePtr place, std::int64_t known,
                                             CancellationPtr cancellation) {
  for (int failures = 0;; ++failures) {
    if (failures > 0) {
      co_await back_off(place->client, failures - 1, Deadline::never(), cancellation);
    }
    if (cancellation->requested()) co_return error_code{asio::error::operation_aborted};
    const Result<CopyRead> read = co_await read_copy(place, cancellation);
    error_code error = read ? error_code{} : read.error();
    if (read && !read->copy) {
      error = co_await until_copied(place, cancellation);
    } else if (read && read->session != 0) {
      Membership joined{.session = read->session,
                        .version = std::max(read->copy->version, known),
                        .copy = *read->copy};
      std::string node = member_of(*place, joined.version, joined.session);
      const std::int64_t session = joined.session;
      error = co_await create_member(place, node, session, read->data_version, cancellation);
      if (!error) co_return joined;
    }
    if (error && !is_passing(error)) co_return error;
  }
}

asio::awaitable<Result<Announced>> announce(CopyPlacePtr place, std::int64_t session,
                                            std::int64_t former, std::int64_t version,
                                            CancellationPtr cancellation) {
  const std::string node = member_of(*place, version, session);
  for (int failures = 0;; ++failures) {
    if (failures > 0) {
      co_await back_off(place->client, failures - 1, Deadline::never(), cancellation);
    }
    if (place->client.session().id != session) co_return Announced::session_lost;
    const Transaction transaction{create(node, {}, CreateMode::ephemeral),
                                  remove(member_of(*place, former, session))};
    const error_code error = co_await commit_at(place, transaction, cancellation);
    if (place->client.session().id != session) {
      place->client.share().remove_in_background(node);
      co_return Announced::session_lost;
    }
    // If the node exists, an earlier transaction whose reply was lost has made it.
    if (!error || error == ServerErrc::node_exists) co_return Announced::yes;
    // An operator has removed the member: its session has to join again.
    if (error == ServerErrc::no_node) co_return Announced::session_lost;
    if (!is_passing(error)) co_return error;
  }
}

asio::awaitable<Result<MemberLook>> look_at_members(CopyPlacePtr place, std::int64_t version,
                                                    std::int64_t session,
                                                    CancellationPtr cancellation) {
  if (session == 0) co_return Errc::session_lost;
  const OperationOptions limits;
  const CorePtr core = place->client.core();
  const std::string members = folder_of_members(*place);
  const auto [failure, folders] =
      co_await await<&start_children, Children>(core, cancellation, members, limits);
  if (failure) co_return failure;
  // A member's version only grows, so looks from the lowest folder up miss no member. At an
  // ensemble that was out of the map for some versions a member's version may be far below.
  for (const std::int64_t below : versions_below(version, folders.names)) {
    const std::string folder = folder_of(*place, below);
    const auto [error, stat] =
        co_await await<&start_exists, std::optional<Stat>>(core, cancellation, folder, limits);
    if (error) co_return error;
    if (stat && stat->child_count > 0) co_return MemberLook::behind;
  }
  if (place->client.session().id != session) co_return Errc::session_lost;
  co_return MemberLook::all_announced;
}

asio::awaitable<Result<RequestDone>> make_folder(CopyPlacePtr place, std::int64_t version,
                                                 CancellationPtr cancellation) {
  const CorePtr core = place->client.core();
  const std::string folder = folder_of(*place, version);
  const std::string no_data;
  const CreateOptions options;
  const auto [error, created] =
      co_await await<&start_create, Created>(core, cancellation, folder, no_data, options);
  if (error && error != ServerErrc::node_exists) co_return error;
  co_return RequestDone{};
}

asio::awaitable<Result<RequestDone>> remove_folder(CopyPlacePtr place, std::int64_t version,
                                                   CancellationPtr cancellation) {
  const CorePtr core = place->client.core();
  const std::string folder = folder_of(*place, version);
  const RemoveOptions options;
  const auto [error] = co_await await<&start_remove>(core, cancellation, folder, options);
  if (error) co_return error;
  co_return RequestDone{};
}

asio::awaitable<Result<RequestDone>> write_copy(CopyPlacePtr place, CopyRead read, MapCopy next,
                                                CancellationPtr cancellation) {
  const CorePtr core = place->client.core();
  const std::string path = place->path;
  const std::string text = encode(next);
  if (read.copy) {
    const SetOptions options{.version = read.data_version};
    const auto [error, stat] =
        co_await await<&start_set, Stat>(core, cancellation, path, text, options);
    if (error) co_return error;
    co_return RequestDone{};
  }
  const Transaction transaction{create(path, text), create(folder_of_members(*place)),
                                create(folder_of(*place, next.version))};
  error_code error = co_await commit_at(place, transaction, cancellation);
  if (error == ServerErrc::no_node) {
    // The parent is created only if it is missing: where an operator has created it, the client may
    // lack the permission to create anything beside it.
    const std::string above{parent_of(path)};
    const std::string no_data;
    const CreateOptions options{.parents = Parents::created_as_containers};
    const auto [not_made, created] =
        co_await await<&start_create, Created>(core, cancellation, above, no_data, options);
    if (not_made && not_made != ServerErrc::node_exists) co_return not_made;
    error = co_await commit_at(place, transaction, cancellation);
  }
  if (error) co_return error;
  co_return RequestDone{};
}

}  // namespace custodian::recipes_detail
