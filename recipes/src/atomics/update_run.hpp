#pragma once

/// \file
/// Update is the state of a batch of updates whose turn has come. Strand only.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "atomics/update_batch.hpp"
#include "atomics/update_chain.hpp"
#include "atomics/update_step.hpp"
#include "custodian/lease/lease.hpp"

namespace custodian::recipes_detail {

struct Update {
  explicit Update(UpdateBatchPtr updates)
      : batch{std::move(updates)},
        node{*batch->node->value},
        options{batch->node->options},
        limits{batch->options},
        core{node.client.core()},
        line{batch->line},
        cancellation{batch->cancellation} {}

  [[nodiscard]] bool settles() const { return options.settle == Settle::exactly_once; }
  [[nodiscard]] bool wants_lock() const {
    return options.promoted && !lock && done.tries >= options.promoted->after_tries;
  }
  /// Whether the node is certainly the one that the line's copy was made of.
  [[nodiscard]] bool is_same_node() const {
    if (settles()) return line->witness.alive();
    return is_connected(node.client.connection_state()) && line->watch.holds(core);
  }

  const UpdateBatchPtr batch;
  const SharedNode& node;
  const UpdateOptions& options;
  /// The limits of each request.
  const OperationOptions limits;
  const CorePtr core;
  const ValueLinePtr line;
  const CancellationPtr cancellation;
  Lease lock{};
  /// The value to be replaced.
  std::optional<Stored> found{};
  /// This update has read `found`. (Another value may be old, so it proves nothing.)
  bool is_fresh = false;
  /// `found` is the copy of an earlier update.
  bool is_copy = false;
  std::optional<UpdateChain> chain{};
  /// The updates in the chain.
  std::vector<UpdateCallPtr> computed{};
  Doubt doubt = Doubt::none;
  /// The value that the write has left.
  Stored written{};
  /// What all results of the batch have in common.
  struct {
    int tries = 0;
    bool promoted = false;
  } done{};
  /// Why the update ends without success.
  error_code error{};
};
using UpdatePtr = std::shared_ptr<Update>;

}  // namespace custodian::recipes_detail
