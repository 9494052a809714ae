#pragma once

/// \file
/// revoke() asks a holder to release its lock.
///
///     for (const Participant& holder : mutex.participants()) revoke(client, holder.node);
///
/// A revocation is only a request: a holder that listens (see Lease::make_revocable()) is notified
/// and decides; a holder that does not listen is not notified. The request writes Apache Curator's
/// message into the node, where it replaces the identity that others see. A holder of this library
/// that listens restores its identity at once; other holders, Curator's among them, do not: if you
/// need the identity, call `participants()` before the request. Curator's holders understand the
/// message if they have been made revocable; kazoo's do not.
///
/// When not to use it: to take a lock away. Any client may ask a holder, and more than once: the
/// lock's users should agree on what a request means.

#include <string>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/export.hpp"
#include "custodian/lease/revocation.hpp"

namespace custodian {

namespace recipes_detail {
/// Throws Error (invalid_argument) unless `node` is named like a contender, so that the data of no
/// other node are overwritten by mistake.
CUSTODIAN_EXPORT void check_revoke(const Client& client, std::string_view operation,
                                   std::string_view node);
CUSTODIAN_EXPORT void start_revoke(CorePtr core, CancellationPtr cancellation, Client client,
                                   std::string node, OperationOptions options,
                                   Handler<bool> handler);
}  // namespace recipes_detail

/// Asks the contender with this node (`Participant::node`, `Lease::node()`), a holder or a waiter,
/// to release. A holder that listens is notified each time.
/// Completes with: error, whether the node existed: false if it is gone.
/// Cancellation: total; a request that was already sent may still be applied.
/// Errors: invalid_argument (not the node of a lock; thrown at once), no_auth, deadline_exceeded,
/// operation_aborted, and those common to all operations. A lost reply is no error: the request is
/// repeated.
/// Executor: the handler's, or the client's callback executor.
/// Threads: any.
template <typename Token>
auto async_revoke(const Client& client, std::string node, OperationOptions options, Token&& token) {
  recipes_detail::check_revoke(client, "async_revoke", node);
  return initiate<void(error_code, bool), &recipes_detail::start_revoke>(
      client.core(), std::forward<Token>(token), client.share(), std::move(node), options);
}
/// async_revoke() with default options.
template <typename Token>
auto async_revoke(const Client& client, std::string node, Token&& token) {
  return async_revoke(client, std::move(node), OperationOptions{}, std::forward<Token>(token));
}
/// The blocking form of async_revoke(). Throws Error.
CUSTODIAN_EXPORT bool revoke(const Client& client, const std::string& node,
                             OperationOptions options = {});

}  // namespace custodian
