#pragma once

/// \file
/// awaited_create() creates the node of a waiting member, and sees the create through when its
/// caller gives up.

#include <boost/asio/awaitable.hpp>
#include <string>

#include "custodian/authoring/result.hpp"
#include "custodian/client.hpp"
#include "custodian/node.hpp"
#include "custodian/operation_options.hpp"

namespace custodian::recipes_detail {

/// Creates an ephemeral node under a unique name, with the client's identity as its data. Other
/// clients may count the node before its creator has the reply. So a caller that gives up during
/// the create has to learn whether the node exists: the create then goes on for at most one
/// operation's time. Errors: operation_aborted (the caller has given up, and nothing was sent);
/// deadline_exceeded_outcome_unknown (the caller has given up, and the node may exist until it is
/// deleted in the background); no_node, and those common to all operations.
[[nodiscard]] boost::asio::awaitable<Result<Created>> awaited_create(Client client,
                                                                     CancellationPtr callers,
                                                                     std::string path,
                                                                     Parents parents);

}  // namespace custodian::recipes_detail
