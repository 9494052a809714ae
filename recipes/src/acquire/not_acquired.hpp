#pragma once

/// \file
/// Why an acquire with a limit has ended without a lease. Pure.

#include "custodian/error.hpp"
#include "custodian/locks/acquire.hpp"

namespace custodian::recipes_detail {

/// Whether the error means that no server answered, or not in time: no mistake of the caller, and
/// nothing that the servers refused.
[[nodiscard]] bool is_lack_of_answer(const error_code& error) noexcept;

/// What an acquire saw until its end. Somebody who was seen ahead is ahead still, for all that is
/// known: doubt is no permission.
[[nodiscard]] NotAcquired why_not_acquired(bool somebody_ahead, bool connected) noexcept;

}  // namespace custodian::recipes_detail
