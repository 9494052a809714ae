#pragma once

/// \file
/// Party is one member's view of a double barrier: for coroutines on the client's strand.
///
/// Every transaction that lets a member in writes the barrier's data, and so changes their version.
/// Every transaction that relies on the present members checks the version that its listing showed.
/// So each of these transactions takes the others into account.

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
  const std::string name = make_uuid();  ///< part of the names of all nodes of this member
  OwnedNode own{};                       ///< empty, unless the member waits or is in
  std::int64_t caught_up_in = 0;         ///< the session whose server has caught up
  Standing standing{};                   ///< the standing of the own node, in its session
  bool is_in = false;
  bool is_busy = false;  ///< an operation is under way

  /// Notes that the own node is gone.
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
  std::int32_t version = 0;     ///< the version of the barrier's data
  std::int64_t changed_by = 0;  ///< the last change that the listing shows, as a transaction's id
  bool is_ready = false;

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] Standing standing() const { return {created_by, version}; }
};

/// Lists the present members: in a new session it first waits until the server has caught up. A
/// barrier that does not exist has none.
[[nodiscard]] boost::asio::awaitable<Result<Members>> list(PartyPtr party,
                                                           CancellationPtr cancellation,
                                                           OperationOptions options);

/// Reads the node at this path, with the party's client; nothing if the node does not exist.
[[nodiscard]] boost::asio::awaitable<Result<std::optional<GetResult>>> read_node(
    PartyPtr party, CancellationPtr cancellation, std::string path, OperationOptions options);

[[nodiscard]] boost::asio::awaitable<error_code> commit(PartyPtr party,
                                                        CancellationPtr cancellation,
                                                        Transaction transaction,
                                                        OperationOptions options);
/// Whether an error of commit() means that the servers' state is another one than was read, or may
/// be.
[[nodiscard]] bool is_overtaken(const error_code& error) noexcept;

}  // namespace custodian::recipes_detail
