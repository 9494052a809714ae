#pragma once

/// \file
/// find_leader() reads from the nodes which candidate leads.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "acquire/participants.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/client.hpp"
#include "custodian/locks/acquire.hpp"
#include "ordering/contender_order.hpp"

namespace custodian::recipes_detail {

/// The leader as last read; empty if there is none. The watch, if there is one, ends when another
/// candidate may lead, or when the leader's identity may have changed.
struct LeaderSnapshot {
  std::optional<Participant> leader{};
  /// The transaction that wrote the data of the leader's node.
  std::int64_t changed_by = 0;
  Watch watch{};
};

/// Finds the leader. Called on the strand only.
[[nodiscard]] boost::asio::awaitable<Result<LeaderSnapshot>> find_leader(
    Client client, CancellationPtr cancellation, std::string path, NamingRule rule,
    OperationOptions options, Watching watching);

void start_find_leader(const Client& client, CancellationPtr cancellation, std::string path,
                       NamingRule rule, OperationOptions options,
                       Handler<std::optional<Participant>> handler);

/// Finds the leader. Blocks, and throws Error.
[[nodiscard]] std::optional<Participant> leader_of(const LockSpecPtr& spec,
                                                   std::string_view operation,
                                                   OperationOptions options);

}  // namespace custodian::recipes_detail
