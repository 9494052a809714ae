#pragma once

/// \file
/// acquire_outcome() translates the end of an acquire for observers. Pure.

#include <boost/asio/error.hpp>
#include <cstddef>

#include "custodian/observer.hpp"

namespace custodian::recipes_detail {

/// The outcome of an acquire that ended with `error` (or without one) and with `leases` leases.
[[nodiscard]] inline AcquireOutcome acquire_outcome(const error_code& error, std::size_t leases,
                                                    bool try_once) noexcept {
  if (error == boost::asio::error::operation_aborted || error == Errc::closed) {
    return AcquireOutcome::cancelled;
  }
  if (error) return AcquireOutcome::failed;
  if (leases > 0) return AcquireOutcome::acquired;
  return try_once ? AcquireOutcome::declined : AcquireOutcome::late;
}

}  // namespace custodian::recipes_detail
