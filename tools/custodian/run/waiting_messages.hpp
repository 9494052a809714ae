#pragma once

/// \file
/// What is said while an acquire waits.

#include <functional>
#include <string>

#include "custodian/locks/acquire.hpp"

namespace custodian::cli {

/// The options of an acquire that says when it has to queue again and, with -v, what is ahead. A
/// follower hears of what is ahead, too, on a thread of the client's.
[[nodiscard]] AcquireOptions with_messages(
    int verbosity, std::function<void(const std::string& position)> follower = nullptr);

}  // namespace custodian::cli
