#pragma once

/// \file
/// Messages while an acquire waits.

#include <functional>
#include <string>

#include "custodian/locks/acquire.hpp"

namespace custodian::cli {

/// The options of an acquire that prints a message when it has to queue again and, with -v, for
/// each new position in the queue. `follower` is called with the position, too, on a thread of the
/// client.
[[nodiscard]] AcquireOptions with_messages(
    int verbosity, std::function<void(const std::string& position)> follower = nullptr);

}  // namespace custodian::cli
