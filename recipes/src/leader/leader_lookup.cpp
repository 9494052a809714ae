#include "leader/leader_lookup.hpp"

#include <utility>

#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/leader/candidate.hpp"
#include "ordering/lock_spec.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

using Candidates = Watched<Listing>;

asio::awaitable<Result<Candidates>> list(CorePtr core, CancellationPtr cancellation,
                                         std::string path, NamingRule rule,
                                         OperationOptions options, Watching watching) {
  Result<Watched<Children>> seen =
      co_await read_children(core, cancellation, std::move(path), options, watching);
  if (!seen) co_return seen.error();
  co_return Candidates{Listing{std::move(seen->value.names), rule}, std::move(seen->watch)};
}

/// Confirms that there is no leader. A server that lags behind may list no candidates, so the
/// client syncs first. Returns nothing if a candidate, or the election's node, has appeared after
/// all.
asio::awaitable<std::optional<Result<LeaderSnapshot>>> see_nobody(CorePtr core,
                                                                  CancellationPtr cancellation,
                                                                  std::string path, NamingRule rule,
                                                                  OperationOptions options,
                                                                  Watching watching) {
  const auto [unsynced] = co_await await<&start_sync>(core, cancellation, path, options);
  if (unsynced) co_return unsynced;
  Result<Candidates> now = co_await list(core, cancellation, path, rule, options, watching);
  if (now && !now->value.contenders().empty()) co_return std::nullopt;
  if (now) co_return LeaderSnapshot{.watch = std::move(now->watch)};
  if (now.error() != ServerErrc::no_node) co_return now.error();
  if (watching == Watching::no) co_return LeaderSnapshot{};
  // The node whose children could be watched does not exist: watch for its creation.
  Result<Watched<std::optional<Stat>>> folder =
      co_await read_existence(core, cancellation, path, options, watching);
  if (!folder) co_return folder.error();
  if (folder->value) co_return std::nullopt;
  co_return LeaderSnapshot{.watch = std::move(folder->watch)};
}

}  // namespace

// Lists the candidates, then reads and watches the first one's node. If that node is deleted in
// between, or if a first candidate appears after all, it lists again.
asio::awaitable<Result<LeaderSnapshot>> find_leader(Client client, CancellationPtr cancellation,
                                                    std::string path, NamingRule rule,
                                                    OperationOptions options, Watching watching) {
  const CorePtr& core = client.core();
  for (;;) {
    const Result<Candidates> now =
        co_await list(core, cancellation, path, rule, options, Watching::no);
    if (!now && now.error() != ServerErrc::no_node) co_return now.error();
    if (now && !now->value.malformed().empty()) co_return Errc::malformed_contender;
    if (!now || now->value.contenders().empty()) {
      std::optional<Result<LeaderSnapshot>> nobody =
          co_await see_nobody(core, cancellation, path, rule, options, watching);
      if (nobody) co_return std::move(*nobody);
      continue;
    }
    const std::string node = join(path, now->value.contenders().front().name);
    Result<Watched<GetResult>> read =
        co_await read_data(core, cancellation, node, options, watching);
    if (!read && read.error() == ServerErrc::no_node) continue;  // deleted meanwhile
    if (!read) co_return read.error();
    const std::int64_t changed_by = read->value.stat.mzxid;
    co_return LeaderSnapshot{.leader = participant_of(client, node, std::move(read->value)),
                             .changed_by = changed_by,
                             .watch = std::move(read->watch)};
  }
}

namespace {

asio::awaitable<Result<std::optional<Participant>>> only_leader(Client client,
                                                                CancellationPtr cancellation,
                                                                std::string path, NamingRule rule,
                                                                OperationOptions options) {
  Result<LeaderSnapshot> seen = co_await find_leader(std::move(client), std::move(cancellation),
                                                     std::move(path), rule, options, Watching::no);
  if (!seen) co_return seen.error();
  co_return std::move(seen->leader);
}

}  // namespace

void start_find_leader(const Client& client, CancellationPtr cancellation, std::string path,
                       NamingRule rule, OperationOptions options,
                       Handler<std::optional<Participant>> handler) {
  options.deadline = client.deadline_or_default(options.deadline);
  const std::string what = "a look at " + path;
  spawn(client.core(), what,
        only_leader(client.share(), std::move(cancellation), std::move(path), rule, options),
        std::move(handler));
}

void start_leader(CorePtr, CancellationPtr cancellation, LockSpecPtr spec, OperationOptions options,
                  Handler<std::optional<Participant>> handler) {
  start_find_leader(spec->client, std::move(cancellation), spec->path, spec->rule, options,
                    std::move(handler));
}

std::optional<Participant> leader_of(const LockSpecPtr& spec, std::string_view operation,
                                     OperationOptions options) {
  return block_in_time_or_throw<&start_leader, std::optional<Participant>>(
      spec->client.core(), operation, spec->path, {}, {options.deadline}, spec, options);
}

}  // namespace custodian::recipes_detail
