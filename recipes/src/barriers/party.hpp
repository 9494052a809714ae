#pragma once

/// \file
/// Party is one member's view of a double barrier: for coroutines on the client's strand.
///
/// Every transaction that lets a member in writes the barrier's data, and so changes their version.
/// Every transaction that relies on the present members checks the version that its listing had. So
/// none of these transactions misses another.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "barriers/party_rules.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/authoring/uuid.hpp"
#include "custodian/barriers/distributed_double_barrier.hpp"

namespace custodian::recipes_detail {

/// What the operations of one member share. Strand only, except constant members.
class Party {
 public:
  Party(Client of, std::string at, std::int32_t members, Late comes_late)
      : client{std::move(of)}, path{std::move(at)}, needed{members}, late{comes_late} {}

  const Client client;
  const std::string path;
  const std::int32_t needed;
  const Late late;
  const std::string name = make_uuid();  ///< the same in the names of all its nodes
  OwnedNode own{};                       ///< empty, unless it waits or is in
  std::int64_t caught_up_in = 0;         ///< the session whose server has seen what is relied on
  Standing standing{};                   ///< of the own node, in its session
  bool is_in = false;
  bool is_busy = false;  ///< an operation is under way

  /// The own node is gone.
  void leave_behind() {
    own.note_gone();
    own = OwnedNode{};
  }
  [[nodiscard]] std::string ready() const { return join(path, ready_name); }
  [[nodiscard]] OperationOptions patient() const {
    return {Deadline::never(), client.retry_policy().unlimited()};
  }
};

/// A listing of a barrier.
struct Members {
  std::vector<std::string> names{};
  std::int64_t created_by = 0;  ///< the transaction that has created the barrier's node
  std::int32_t version = 0;     ///< of the barrier's data
  std::int64_t changed_by = 0;  ///< the last transaction that the listing shows
  bool is_ready = false;

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] Standing standing() const { return {created_by, version}; }
};

/// Lists the members as they are now: in a new session it waits until the server has caught up. A
/// barrier that does not exist has none.
[[nodiscard]] boost::asio::awaitable<Result<Members>> list(PartyPtr party,
                                                           CancellationPtr cancellation,
                                                           OperationOptions options);

/// The node at this path below the party's client, or nothing.
[[nodiscard]] boost::asio::awaitable<Result<std::optional<GetResult>>> read_node(
    PartyPtr party, CancellationPtr cancellation, std::string path, OperationOptions options);

[[nodiscard]] boost::asio::awaitable<error_code> commit(PartyPtr party,
                                                        CancellationPtr cancellation,
                                                        Transaction transaction,
                                                        OperationOptions options);
/// Whether an error of commit() means that the servers look different now, or perhaps.
[[nodiscard]] bool is_overtaken(const error_code& error) noexcept;

}  // namespace custodian::recipes_detail
