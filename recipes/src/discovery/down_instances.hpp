#pragma once

/// \file
/// DownInstances remembers which instances of a service have failed lately. Pure: the caller brings
/// the time.

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "custodian/discovery/provider_options.hpp"

namespace custodian::discovery_detail {

/// An instance is down once it has had `DownPolicy::errors` errors within `DownPolicy::time` of the
/// first of them, and until that time is over. Ids distinguish instances: an instance whose data
/// have changed is still the same.
class DownInstances {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit DownInstances(DownPolicy policy) : policy_{policy} {}

  void note_error(std::string_view id, Time now);
  [[nodiscard]] bool is_down(std::string_view id, Time now) const;
  /// When the next instance that is down becomes available again; nothing if none is down.
  [[nodiscard]] std::optional<Time> next_return(Time now) const;
  /// How many instances are remembered: those whose first error is not long ago.
  [[nodiscard]] std::size_t size() const noexcept { return marks_.size(); }

 private:
  struct Mark {
    Time first;
    std::size_t errors = 0;
  };
  [[nodiscard]] bool is_over(const Mark& mark, Time now) const {
    return now - mark.first >= policy_.time;
  }

  DownPolicy policy_;
  std::map<std::string, Mark, std::less<>> marks_;
};

}  // namespace custodian::discovery_detail
