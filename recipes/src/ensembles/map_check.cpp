#include "ensembles/map_check.hpp"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "async/backoff.hpp"
#include "custodian/authoring/event.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/authoring/spawn.hpp"
#include "ensembles/layout_text.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

LayoutSight judge_layout(const MapCheck& check, const std::string& data) {
  const auto read = decode_layout(data);
  const auto* const theirs = std::get_if<EnsembleLayout>(&read);
  if (theirs == nullptr) return {Errc::malformed_data};
  if (*theirs == check.layout) return {};
  return {Errc::invalid_argument, fingerprint_of(encode(*theirs))};
}

MapOutcome outcome_of(const MapCheck& check, const std::vector<LayoutSight>& sights) {
  MapOutcome outcome{.verdict = {.ours = check.fingerprint}};
  auto worst = std::ranges::find_if(
      sights, [](const LayoutSight& each) { return !each.fingerprint.empty(); });
  if (worst == sights.end()) {
    worst = std::ranges::find_if(sights, [](const LayoutSight& each) { return !!each.error; });
  }
  if (worst == sights.end()) return outcome;
  const auto index = static_cast<std::size_t>(worst - sights.begin());
  outcome.error = worst->error;
  outcome.verdict.theirs = worst->fingerprint;
  outcome.verdict.ensemble = check.ensembles[index].name;
  return outcome;
}

namespace {

/// Whether the node may exist in spite of the error, and there is time to look again.
bool is_worth_another_look(const error_code& error) {
  if (error == Errc::deadline_exceeded_outcome_unknown) return false;
  return error == ErrorCondition::outcome_unknown || error == Errc::session_lost ||
         error == ServerErrc::session_expired;
}

/// The data of the node at one ensemble. A missing node is created with this layout, unless another
/// process is quicker.
asio::awaitable<Result<std::string>> read_or_create(MapCheckPtr check, std::size_t index,
                                                    CancellationPtr cancellation,
                                                    OperationOptions limits) {
  const Client& client = check->ensembles[index].client;
  const CorePtr core = client.core();
  const std::string path = check->path;
  for (int failures = 0;;) {
    // A server that lags behind could show the layout from before the last change.
    const auto [unsynced] = co_await await<&start_sync>(core, cancellation, path, limits);
    if (unsynced) co_return unsynced;
    auto [missing, found] = co_await await<&start_get, GetResult>(core, cancellation, path, limits);
    if (!missing) co_return std::move(found.data);
    if (missing != ServerErrc::no_node) co_return missing;
    CreateOptions options{.parents = Parents::created_as_containers,
                          .deadline = limits.deadline,
                          .retry = limits.retry};
    std::string text = check->text;
    const auto [error, created] = co_await await<&start_create, Created>(
        core, cancellation, path, std::move(text), std::move(options));
    if (!error) co_return check->text;
    if (error == ServerErrc::node_exists) continue;
    if (!is_worth_another_look(error)) co_return error;
    const RetryPolicy policy = limits.retry.value_or(client.retry_policy());
    const auto wait = pause_before(policy, failures++, std::chrono::milliseconds{0});
    if (!wait || limits.deadline.passed()) co_return error;
    co_await pause_for(client, *wait, limits.deadline, cancellation);
    if (cancellation->requested()) co_return error_code{asio::error::operation_aborted};
  }
}

asio::awaitable<Result<LayoutSight>> look_at(MapCheckPtr check, std::size_t index,
                                             CancellationPtr cancellation,
                                             OperationOptions limits) {
  const Result<std::string> data =
      co_await read_or_create(check, index, std::move(cancellation), limits);
  if (!data) co_return LayoutSight{data.error()};
  LayoutSight sight = judge_layout(*check, *data);
  if (sight.error) {
    const AskedEnsemble& asked = check->ensembles[index];
    asked.client.log(LogLevel::error, check->path + " of the ensemble " + asked.name +
                                          (sight.fingerprint.empty()
                                               ? " is no layout that this version can read"
                                               : " has the layout " + sight.fingerprint +
                                                     ", and this process " + check->fingerprint));
  }
  co_return sight;
}

/// What the looks have found so far. Touched on the first ensemble's strand only.
struct LooksUnderWay {
  /// A look that does not end keeps this error: no thread runs its client's context.
  explicit LooksUnderWay(std::size_t count)
      : sights(count, LayoutSight{Errc::deadline_exceeded_outcome_unknown}), cancellations(count) {}

  std::vector<LayoutSight> sights;
  std::vector<CancellationPtr> cancellations;
  std::size_t ended = 0;
  AsyncEvent changed;
};

/// Looks at one ensemble, on its client's strand, and returns to the first client's strand.
void start_look(const MapCheckPtr& check, const std::shared_ptr<LooksUnderWay>& looks,
                std::size_t index, OperationOptions limits) {
  const AskedEnsemble& asked = check->ensembles[index];
  const asio::any_io_executor home = check->home().get_executor();
  spawn(asked.client.core(), "verifying the map at the ensemble " + asked.name,
        look_at(check, index, looks->cancellations[index], limits),
        [home, looks, index](error_code failure, LayoutSight sight) {
          if (failure) sight = {failure};
          asio::dispatch(home, [looks, index, sight = std::move(sight)]() mutable {
            looks->sights[index] = std::move(sight);
            ++looks->ended;
            looks->changed.notify_all();
          });
        });
}

asio::awaitable<void> verify_map(MapCheckPtr check, CancellationPtr callers,
                                 OperationOptions limits,
                                 std::shared_ptr<Handler<MapVerdict>> handler) {
  const Client& home = check->home();
  const std::size_t count = check->ensembles.size();
  const auto looks = std::make_shared<LooksUnderWay>(count);
  for (std::size_t i = 0; i < count; ++i) {
    looks->cancellations[i] = std::make_shared<Cancellation>(check->ensembles[i].client.core());
  }
  const auto cancel = [looks] {
    for (const CancellationPtr& each : looks->cancellations) each->request();
  };
  if (callers) {
    callers->on_request(looks.get(), cancel);
    if (callers->requested()) cancel();
  }
  for (std::size_t i = 0; i < count; ++i) start_look(check, looks, i, limits);
  // A look ends by itself at the deadline, unless no thread runs its client's context. A blocking
  // call waits a little longer than this does, so that it can name the ensemble.
  constexpr std::chrono::milliseconds longer = detail::blocking_grace / 2;
  const Deadline end = limits.deadline.is_never() ? Deadline::never()
                                                  : Deadline{limits.deadline.time_point() + longer};
  while (looks->ended < count && !end.passed()) {
    const asio::any_io_executor strand = home.get_executor();
    const CancellationPtr none;
    co_await looks->changed.wait(strand, end, none);
  }
  if (looks->ended < count) cancel();
  if (callers) callers->forget(looks.get());
  MapOutcome outcome = outcome_of(*check, looks->sights);
  std::move (*handler)(outcome.error, std::move(outcome.verdict));
}

}  // namespace

void start_map_check(const MapCheckPtr& check, CancellationPtr cancellation,
                     OperationOptions options, Handler<MapVerdict> handler) {
  const Client& home = check->home();
  const CorePtr core = home.core();
  if (detail::is_forked(*core)) return std::move(handler)(Errc::forked, MapVerdict{});
  options.deadline = home.deadline_or_default(options.deadline);
  const auto ending = std::make_shared<Handler<MapVerdict>>(std::move(handler));
  spawn(core, "verifying a map of ensembles",
        verify_map(check, std::move(cancellation), options, ending), [ending](error_code failure) {
          if (*ending) std::move (*ending)(failure, MapVerdict{});
        });
}

}  // namespace custodian::recipes_detail
