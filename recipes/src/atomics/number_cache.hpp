#pragma once

/// \file
/// NumberCache is what all handles on one CachedAtomicLong share: the numbers in memory, the fetch
/// that is under way, and the calls that wait for it.

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "atomics/atomic_node.hpp"
#include "atomics/number_stock.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/authoring/result.hpp"

namespace custodian::recipes_detail {

class NumberCache : public std::enable_shared_from_this<NumberCache> {
 public:
  NumberCache(AtomicNodePtr node, CachedAtomicOptions options)
      : node_{std::move(node)}, stock_{options} {}

  /// The next number, if there is one in memory. Begins to fetch when the numbers run low. Any
  /// thread.
  [[nodiscard]] std::optional<std::int64_t> take();
  /// Like take(), but begins no fetch if there is no number in memory.
  [[nodiscard]] std::optional<std::int64_t> take_if_any();
  /// Like take(), but never begins a fetch.
  [[nodiscard]] std::optional<std::int64_t> take_left();
  /// How many fetches have begun. Any thread.
  [[nodiscard]] std::uint64_t fetches();
  /// Waits for a number. The failure of one of the first `fetches` fetches does not end the wait;
  /// the failure of a later one does, unless it ran out of time. Strand only; `self` is this
  /// object.
  [[nodiscard]] static boost::asio::awaitable<Result<std::int64_t>> wait(
      NumberCachePtr self, CancellationPtr cancellation, OperationOptions options,
      std::uint64_t fetches);

  [[nodiscard]] const Client& client() const noexcept { return node_->value->client; }
  [[nodiscard]] const std::string& path() const noexcept { return node_->value->path; }

 private:
  [[nodiscard]] static boost::asio::awaitable<void> fetch(NumberCachePtr self);
  void begin_fetch();
  void end_fetch(error_code error);

  const AtomicNodePtr node_;

  std::mutex mutex_;  ///< guards what follows
  NumberStock stock_;
  bool is_fetching_ = false;
  std::uint64_t fetches_ = 0;  ///< the number of fetches that have begun

  // The strand only.
  int waiters_ = 0;
  std::uint64_t last_failed_ = 0;  ///< which fetch was the last to fail, counted from 1
  error_code last_failure_{};
  AsyncEvent fetched_;
};

}  // namespace custodian::recipes_detail
