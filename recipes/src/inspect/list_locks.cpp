#include "custodian/inspect/list_locks.hpp"

#include <deque>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

#include "async/started_operation.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/error.hpp"
#include "inspect/lock_search.hpp"
#include "inspect/node_reading.hpp"

namespace custodian {

namespace recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

namespace {

/// A listing that is under way.
struct Survey {
  Look look;
  ListOptions options;
  LockSearch search;
  LockListing listing{};
};
using SurveyPtr = std::shared_ptr<Survey>;

/// Handles the error of one operation at a path. A missing node is no error, and a forbidden one is
/// noted; returns any other error.
error_code judge(Survey& survey, const std::string& path, const error_code& error) {
  if (error == ServerErrc::no_node) return {};
  if (error != ServerErrc::no_auth) return error;
  survey.listing.forbidden.push_back(path);
  return {};
}

/// Walks the tree. The servers answer in the order of the requests, so the oldest request under way
/// is awaited first.
asio::awaitable<error_code> search(SurveyPtr survey) {
  std::deque<std::pair<std::string, StartedOperation<Children>>> under_way;
  error_code failure;
  const auto may_go_on = [&] {
    return !failure && under_way.size() < survey->options.parallelism &&
           survey->search.has_next() && survey->listing.nodes < survey->options.max_nodes;
  };
  for (;;) {
    while (may_go_on()) {
      std::string path = *survey->search.next();
      ++survey->listing.nodes;
      auto listed = StartedOperation<Children>::start<&start_children>(
          survey->look.client.get_executor(), survey->look.client.core(), survey->look.cancellation,
          path, survey->look.options);
      under_way.emplace_back(std::move(path), std::move(listed));
    }
    if (under_way.empty()) break;
    auto [path, listed] = std::move(under_way.front());
    under_way.pop_front();
    auto [error, children] = co_await listed.get();
    if (!error) survey->search.add(path, std::move(children.names));
    if (error) error = judge(*survey, path, error);
    if (error) failure = error;
  }
  survey->listing.is_complete = !survey->search.has_next();
  co_return failure;
}

/// Inspects the locks that the walk has found.
asio::awaitable<error_code> inspect_all(SurveyPtr survey) {
  std::deque<std::pair<std::string, StartedOperation<Inspection>>> under_way;
  error_code failure;
  auto lock = survey->search.locks().begin();
  const auto end = survey->search.locks().end();
  const InspectOptions options{.operation = survey->look.options};
  for (;;) {
    for (; !failure && lock != end && under_way.size() < survey->options.parallelism; ++lock) {
      under_way.emplace_back(
          *lock, StartedOperation<Inspection>::start<&start_inspect>(
                     survey->look.client.get_executor(), survey->look.client.core(),
                     survey->look.cancellation, survey->look.client.share(), *lock, options));
    }
    if (under_way.empty()) break;
    auto [path, inspected] = std::move(under_way.front());
    under_way.pop_front();
    auto [error, inspection] = co_await inspected.get();
    if (!error) {
      std::ranges::move(locks_at(path, std::move(inspection)),
                        std::back_inserter(survey->listing.locks));
    } else {
      error = judge(*survey, path, error);
    }
    if (error) failure = error;
  }
  co_return failure;
}

asio::awaitable<Result<LockListing>> list(SurveyPtr survey) {
  error_code error = co_await search(survey);
  if (!error) error = co_await inspect_all(survey);
  if (error) co_return error;
  std::ranges::sort(survey->listing.forbidden);
  co_return std::move(survey->listing);
}

}  // namespace

void check_list(const Client& client, std::string_view path, const ListOptions& options) {
  check_path(client.core(), "list_locks", path);
  const auto check_positive = [&](std::size_t value, std::string_view name) {
    if (value > 0) return;
    throw Error{Errc::invalid_argument, "list_locks", path,
                std::string{name} + " is 0; it must be at least 1"};
  };
  check_positive(options.parallelism, "ListOptions::parallelism");
  check_positive(options.max_nodes, "ListOptions::max_nodes");
}

void start_list_locks(CorePtr core, CancellationPtr cancellation, Client client, std::string path,
                      ListOptions options, Handler<LockListing> handler) {
  options.operation.deadline = client.deadline_or_default(options.operation.deadline);
  const std::string what = "a list of the locks below " + path;
  auto survey = std::make_shared<Survey>(
      Survey{{std::move(client), std::move(cancellation), 0, options.operation},
             options,
             LockSearch{std::move(path)}});
  spawn(core, what, list(std::move(survey)), std::move(handler));
}

}  // namespace recipes_detail

std::string_view to_string(ListedKind kind) noexcept {
  switch (kind) {
    case ListedKind::mutex: return "mutex";
    case ListedKind::read_write: return "read/write";
    case ListedKind::election: return "election";
    case ListedKind::semaphore: return "semaphore";
  }
  return "unknown";
}

LockListing list_locks(const Client& client, const std::string& path, ListOptions options,
                       std::stop_token stop) {
  recipes_detail::check_list(client, path, options);
  return block_in_time_or_throw<&recipes_detail::start_list_locks, LockListing>(
      client.core(), "list_locks", path, std::move(stop), {options.operation.deadline},
      client.share(), path, options);
}

}  // namespace custodian
