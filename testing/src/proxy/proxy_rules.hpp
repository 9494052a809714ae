#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "custodian/testing/fault_proxy.hpp"

namespace custodian::testing {

/// ProxyRules are the present faults of a FaultProxy; FlowRules are those of one direction. They
/// are used on the proxy's thread only.
struct FlowRules {
  enum class Mode { pass, hold_back, swallow };
  struct Cut {
    std::uint64_t bytes_left = 0;
    Ending ending = Ending::orderly;
  };

  Mode mode = Mode::pass;
  std::chrono::milliseconds delay{0};
  std::uint64_t bytes_per_second = 0;  ///< 0: no limit
  std::optional<Cut> cut;
  std::uint64_t delivered = 0;
};

struct ProxyRules {
  struct ReplyCut {
    std::uint64_t replies_left = 0;  ///< the number of replies that still arrive
    LastReply last = LastReply::arrives;
    Ending ending = Ending::orderly;
  };

  FlowRules to_server;
  FlowRules to_client;
  std::optional<ReplyCut> reply_cut;
};

}  // namespace custodian::testing
