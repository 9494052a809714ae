#include "nodes/node_touch.hpp"

#include <utility>

#include "async/backoff.hpp"
#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// Writes the child once. Creates it if it does not exist.
asio::awaitable<error_code> touch_once(NodeKeeperPtr keeper) {
  const CorePtr core = keeper->client().core();
  const CancellationPtr over = keeper->over();
  const RetryPolicy patient = keeper->client().retry_policy().unlimited();
  const std::string child = touch_path(keeper->path());
  const std::string nothing;
  const SetOptions whatever{.deadline = Deadline::never(), .retry = patient};
  const auto [written, stat] =
      co_await await<&start_set, Stat>(core, over, child, nothing, whatever);
  if (written != ServerErrc::no_node) co_return written;
  CreateOptions how{.mode = CreateMode::persistent_with_ttl,
                    .acl = keeper->options().acl,
                    .ttl = keeper->options().ttl,
                    .deadline = Deadline::never(),
                    .retry = patient};
  const auto [error, created] =
      co_await await<&start_create, Created>(core, over, child, nothing, std::move(how));
  // Another process with the same path may have created the child just now.
  co_return error == ServerErrc::node_exists ? error_code{} : error;
}

}  // namespace

std::string touch_path(const std::string& node) { return join(node, "touch"); }

asio::awaitable<void> keep_touching(NodeKeeperPtr keeper) {
  const CancellationPtr over = keeper->over();
  const auto pause = keeper->options().ttl / 2;
  int failures = 0;
  while (!over->requested()) {
    if (!keeper->is_present()) {
      co_await keeper->wait_for_change(Deadline::never(), over);
      continue;
    }
    const error_code error = co_await touch_once(keeper);
    if (error == Errc::closed) break;
    // A lost reply does no harm: the next touch follows anyway.
    const bool failed = error && error != ErrorCondition::outcome_unknown;
    failures = failed ? failures + 1 : 0;
    if (failed) {
      co_await back_off(keeper->client(), failures - 1, Deadline{pause}, over);
    } else {
      co_await pause_for(keeper->client(), pause, Deadline::never(), over);
    }
  }
}

}  // namespace custodian::recipes_detail
