#pragma once

/// \file
/// Election uses an election like a lock. Each acquire is a candidate of its own, and ends when the
/// candidate leads; the leadership lasts until it is released.
///
/// Threads: any.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <tuple>

#include "custodian/client.hpp"
#include "custodian/deadline.hpp"
#include "custodian/lease/lease.hpp"

namespace custodian::chaos {

class Election {
 public:
  enum class Recipe { latch, selector };

  Election(const Client& client, std::string path, Recipe recipe)
      : client_{client.share()}, path_{std::move(path)}, recipe_{recipe} {}

  [[nodiscard]] Lease acquire() { return acquire_until(Deadline::never()); }
  [[nodiscard]] Lease try_acquire_for(std::chrono::milliseconds wait) {
    return acquire_until(Deadline{wait});
  }
  /// A try needs a candidate, too, which waits for a moment only.
  [[nodiscard]] Lease try_acquire() { return try_acquire_for(std::chrono::milliseconds{1}); }
  [[nodiscard]] boost::asio::awaitable<std::tuple<error_code, Lease>> async_acquire(
      std::shared_ptr<boost::asio::cancellation_signal> cancellation);

 private:
  [[nodiscard]] Lease acquire_until(Deadline deadline);

  Client client_;
  std::string path_;
  Recipe recipe_;
};

}  // namespace custodian::chaos
