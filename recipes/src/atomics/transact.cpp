#include "custodian/atomics/transact.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "async/backoff.hpp"
#include "async/present_session.hpp"
#include "atomics/elapsed.hpp"
#include "atomics/transact_step.hpp"
#include "atomics/view_log.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/doubtful_create.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/owned_node.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/thrown.hpp"
#include "custodian/authoring/uuid.hpp"

namespace custodian {

namespace recipes_detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

/// The state of one call of transact().
struct ViewState {
  ViewState(Client shared, TransactOptions how)
      : client{std::move(shared)}, options{std::move(how)} {}

  /// Calls `use` with the log, under the mutex: the user's function writes to the log in its own
  /// thread, and data that were read are noted on the strand.
  template <typename Use>
  auto with_log(Use use) {
    const std::lock_guard lock{mutex};
    return use(log);
  }

  const Client client;
  const TransactOptions options;
  const std::chrono::steady_clock::time_point called = std::chrono::steady_clock::now();
  std::mutex mutex{};
  ViewLog log{};
  int tries = 0;  ///< strand only
};

namespace {

using Results = std::vector<TransactionResult>;

OperationOptions limits_of(const ViewState& state) { return {.deadline = state.options.deadline}; }

std::optional<ViewData> known(ViewState& state, const std::string& path) {
  return state.with_log([&](const ViewLog& log) { return log.known(path); });
}

ViewData note_read(ViewState& state, const std::string& path, ViewData data,
                   std::optional<std::int32_t> version) {
  return state.with_log(
      [&](ViewLog& log) { return log.note_read(path, std::move(data), version); });
}

/// To the servers the version -1 means any version, so a check cannot name it.
error_code refuse_version(const ViewState& state, const std::string& path) {
  state.client.log(LogLevel::error,
                   "transact() cannot use " + path +
                       ": its version is -1, after 2^32 writes, which no check can name; one set "
                       "of any version makes it 0");
  return Errc::sequence_exhausted;
}

asio::awaitable<Result<ViewData>> get(CancellationPtr cancellation, ViewStatePtr state,
                                      std::string path) {
  const CorePtr core = state->client.core();
  const OperationOptions limits = limits_of(*state);
  auto [error, found] = co_await await<&start_get, GetResult>(core, cancellation, path, limits);
  if (error && error != ServerErrc::no_node) co_return error;
  if (!error && found.stat.version == any_version) co_return refuse_version(*state, path);
  ViewData data;
  std::optional<std::int32_t> version;
  if (!error) {
    data = std::move(found.data);
    version = found.stat.version;
  }
  co_return note_read(*state, path, std::move(data), version);
}

/// One commit, with its repetitions.
struct Commit {
  Transaction transaction{};
  std::string witness{};  ///< the path; empty if there is none
  /// An ephemeral node of the first try's session. Repetitions check that it exists, so they are
  /// never applied in another session.
  OwnedNode marker{};
  std::int64_t session = 0;
  std::chrono::steady_clock::time_point began{};
  Doubt doubt = Doubt::none;

  [[nodiscard]] SessionIs session_is(const Client& client) const {
    return client.session().id == session ? SessionIs::the_same : SessionIs::another;
  }
  [[nodiscard]] CommitRefused refused(ViewState& state, const error_code& error,
                                      const Results& results) const {
    const auto failed = std::ranges::find_if(
        results, [&](const TransactionResult& each) { return each.error == error; });
    if (failed == results.end()) return CommitRefused::nothing;
    const auto index = static_cast<std::size_t>(failed - results.begin());
    const std::size_t own = (witness.empty() ? 0 : 1) + (marker.path().empty() ? 0 : 1);
    if (index < own) {
      const bool is_there = index == 0 && error == ServerErrc::node_exists;
      return is_there ? CommitRefused::witness : CommitRefused::other;
    }
    const bool is_conflict =
        state.with_log([&](const ViewLog& log) { return log.is_conflict(index - own, error); });
    return is_conflict ? CommitRefused::conflicting : CommitRefused::other;
  }
};

Commit make_commit(ViewState& state) {
  Commit commit;
  commit.transaction = state.with_log([](const ViewLog& log) { return log.transaction(); });
  commit.began = std::chrono::steady_clock::now();
  if (state.options.settle == Settle::left_to_caller) return commit;
  commit.witness = join(state.options.witness_below, "_c_" + make_uuid() + "-witness");
  commit.transaction.insert(
      commit.transaction.begin(),
      custodian::create(commit.witness, state.client.identity(), CreateMode::ephemeral));
  return commit;
}

/// Deals with the witness after the last try: deletes it if nothing is in doubt, keeps it if a
/// doubtful try must still find it, or has the client delete it in the background.
void leave_witness(const ViewState& state, const Commit& commit, CommitStep step,
                   const error_code& error) {
  if (commit.witness.empty()) return;
  if (step == CommitStep::done) {
    // The servers may yet come to a doubtful try, which must find the witness and be refused.
    if (commit.doubt == Doubt::none) {
      // The destructor deletes it.
      const OwnedNode deleted{state.client.core(), Created{commit.witness, {}},
                              ForbiddenDelete::is_logged};
    }
    return;
  }
  const bool may_come =
      commit.doubt == Doubt::applied_perhaps || error == asio::error::operation_aborted;
  if (step == CommitStep::fail && may_come) {
    detail::remember_doubtful(*state.client.core(), commit.witness, detail::NodeOf::nobody,
                              commit.began);
  }
}

/// Prepares a repetition. Completes with connection_loss if the session has changed.
asio::awaitable<error_code> mark_session(CancellationPtr cancellation, ViewStatePtr state,
                                         std::shared_ptr<Commit> now) {
  if (!now->marker.path().empty()) co_return error_code{};
  const CorePtr core = state->client.core();
  const std::string path = join(state->options.witness_below, "session");
  const std::string identity = state->client.identity();
  CreateOptions of_this_session{.mode = CreateMode::ephemeral,
                                .protection = Protection::by_unique_name,
                                .deadline = state->options.deadline};
  auto [error, created] = co_await await<&start_create, Created>(core, cancellation, path, identity,
                                                                 std::move(of_this_session));
  if (error) co_return error;
  now->marker = OwnedNode{core, std::move(created), ForbiddenDelete::is_logged};
  if (now->marker.stat().ephemeral_owner != now->session) co_return ServerErrc::connection_loss;
  now->transaction.insert(now->transaction.begin() + 1, check(now->marker.path()));
  co_return error_code{};
}

asio::awaitable<Result<bool>> try_again_later(CancellationPtr cancellation, ViewStatePtr state) {
  const auto wait =
      pause_before(state->options.contention, state->tries - 1, elapsed_since(state->called));
  if (!wait) co_return failed<bool>(ServerErrc::bad_version);
  co_await pause_for(state->client, *wait, state->options.deadline, cancellation);
  co_return false;
}

asio::awaitable<Result<bool>> commit(CancellationPtr cancellation, ViewStatePtr state) {
  const CorePtr core = state->client.core();
  const OperationOptions limits = limits_of(*state);
  const auto now = std::make_shared<Commit>(make_commit(*state));
  if (now->transaction.size() == (now->witness.empty() ? 0U : 1U)) co_return true;
  if (!now->witness.empty()) {
    const Result<std::int64_t> session =
        co_await present_session(state->client, cancellation, limits);
    if (!session) co_return failed<bool>(session.error());
    now->session = *session;
  }
  for (int repetitions = 0;; ++repetitions) {
    Transaction transaction = now->transaction;
    const auto [error, results] =
        co_await await<&start_commit, Results>(core, cancellation, std::move(transaction), limits);
    const CommitRefused refused =
        error ? now->refused(*state, error, results) : CommitRefused::nothing;
    CommitStep step = after_commit(error, refused, now->doubt, now->session_is(state->client),
                                   state->options.settle);
    if (error == ErrorCondition::outcome_unknown) now->doubt = Doubt::applied_perhaps;
    const auto pause = state->client.retry_policy().pause_before(
        {.retries_so_far = repetitions, .elapsed = elapsed_since(state->called)});
    if (step == CommitStep::repeat && !pause) step = CommitStep::fail;
    error_code ended = error;
    if (step == CommitStep::repeat) {
      co_await back_off(state->client, repetitions, limits.deadline, cancellation);
      ended = co_await mark_session(cancellation, state, now);
      if (!ended) continue;
      step = CommitStep::fail;
    }
    leave_witness(*state, *now, step, ended);
    if (step == CommitStep::fail) co_return failed<bool>(end_error(ended, now->doubt));
    ++state->tries;
    if (step == CommitStep::done) co_return true;
    co_return co_await try_again_later(cancellation, state);
  }
}

void throw_now(const error_code& error, std::string_view operation, const std::string& path) {
  if (error) throw Error{error, operation, path};
}

}  // namespace

ViewStatePtr make_view(const Client& client, TransactOptions options) {
  const CorePtr& core = client.core();
  if (options.settle == Settle::exactly_once) {
    if (options.witness_below.empty()) {
      throw Error{Errc::invalid_argument,
                  "transact",
                  {},
                  "witness_below: exactly_once needs the path of a node for its witness"};
    }
    check_path(core, "transact", options.witness_below);
  }
  options.deadline = client.deadline_or_default(options.deadline);
  return std::make_shared<ViewState>(client.share(), std::move(options));
}

void begin_view(ViewState& state) {
  state.with_log([](ViewLog& log) { log = {}; });
}
const CorePtr& core_of(const ViewState& state) { return state.client.core(); }
Deadline deadline_of(const ViewState& state) { return state.options.deadline; }

void start_view_get(CorePtr core, CancellationPtr cancellation, ViewStatePtr state,
                    std::string path, Handler<ViewData> handler) {
  if (auto shown = known(*state, path)) {
    return std::move(handler)(error_code{}, std::move(*shown));
  }
  const std::string what = "reading " + path;
  spawn(core, what, get(std::move(cancellation), std::move(state), std::move(path)),
        std::move(handler));
}

void start_view_commit(CorePtr core, CancellationPtr cancellation, ViewStatePtr state,
                       Handler<bool> handler) {
  spawn(core, "committing what transact() has written",
        commit(std::move(cancellation), std::move(state)), std::move(handler));
}

namespace {

asio::awaitable<void> call(ViewFunction function, ViewStatePtr state) {
  asio::awaitable<void> called = function(TransactionView{std::move(state)});
  co_await std::move(called);
}

/// Runs the function on the client's callback executor, one step at a time.
void start_function(CorePtr, CancellationPtr cancellation, ViewStatePtr state,
                    ViewFunction function, Handler<> handler) {
  const auto ended = std::make_shared<Handler<>>(std::move(handler));
  const auto stop = std::make_shared<asio::cancellation_signal>();
  const asio::any_io_executor executor = asio::make_strand(state->client.callback_executor());
  const auto end = [ended, state, cancellation, stop](const std::exception_ptr& thrown) {
    error_code error;
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (...) {
      const Thrown what = thrown_now();
      error = what.error;
      state->client.log(LogLevel::info, "a function of transact() has failed: " + what.text);
    }
    asio::post(state->client.get_executor(), [ended, error, cancellation, stop] {
      if (cancellation) cancellation->forget(stop.get());
      std::move (*ended)(error);
    });
  };
  if (cancellation) {
    cancellation->on_request(stop.get(), [executor, stop] {
      asio::post(executor, [stop] { stop->emit(asio::cancellation_type::all); });
    });
  }
  asio::co_spawn(executor, call(std::move(function), std::move(state)),
                 asio::bind_cancellation_slot(stop->slot(), end));
}

asio::awaitable<Result<void>> run(CancellationPtr cancellation, ViewStatePtr state,
                                  ViewFunction function) {
  const CorePtr core = state->client.core();
  for (;;) {
    if (cancellation && cancellation->requested()) co_return asio::error::operation_aborted;
    begin_view(*state);
    const auto [error] = co_await await<&start_function>(core, cancellation, state, function);
    if (error) co_return error;
    const Result<bool> is_done = co_await commit(cancellation, state);
    if (!is_done) co_return is_done.error();
    if (*is_done) co_return Result<void>{};
  }
}

}  // namespace

void start_transact(CorePtr core, CancellationPtr cancellation, ViewStatePtr state,
                    ViewFunction function, Handler<> handler) {
  spawn(core, "transact()", run(std::move(cancellation), std::move(state), std::move(function)),
        std::move(handler));
}

}  // namespace recipes_detail

using recipes_detail::throw_now;

std::optional<std::string> TransactionView::get(const std::string& path) {
  const CorePtr& core = recipes_detail::core_of(*state_);
  check_path(core, "get", path);
  if (auto shown = recipes_detail::known(*state_, path)) return std::move(*shown);
  return block_in_time_or_throw<&recipes_detail::start_view_get, recipes_detail::ViewData>(
      core, "get", path, {}, {recipes_detail::deadline_of(*state_)}, state_, path);
}

void TransactionView::set(const std::string& path, std::string data) {
  check_set(recipes_detail::core_of(*state_), path, data);
  const auto set = [&](recipes_detail::ViewLog& log) { return log.set(path, std::move(data)); };
  throw_now(state_->with_log(set), "set", path);
}

void TransactionView::create(const std::string& path, std::string data) {
  check_create(recipes_detail::core_of(*state_), path, data, {});
  const auto create = [&](recipes_detail::ViewLog& log) {
    return log.create(path, std::move(data));
  };
  throw_now(state_->with_log(create), "create", path);
}

void TransactionView::remove(const std::string& path) {
  check_remove(recipes_detail::core_of(*state_), path, {});
  const auto remove = [&](recipes_detail::ViewLog& log) { return log.remove(path); };
  throw_now(state_->with_log(remove), "remove", path);
}

}  // namespace custodian
