#include "nodes/node_keeper.hpp"

#include <utility>

#include "async/backoff.hpp"
#include "custodian/authoring/doubtful_create.hpp"
#include "custodian/authoring/follow.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/uuid.hpp"
#include "custodian/session/session.hpp"
#include "nodes/node_touch.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

// A keeper is a loop on the strand. Each turn
//
//   1. reads the node with a watch, and creates it first if it is not there;
//   2. decides what follows (next_node_step(), which is pure): the node is ours, an earlier
//      session's, or another's;
//   3. does it: writes the data, replaces the node, or rests until the watch fires, until other
//      data are wanted, or until the end.
//
// A reconnection of the same session changes nothing: the watch stays, and nothing is sent. After a
// write whose reply was lost, the next turn reads whether the write was applied.

namespace {

std::string path_for(const std::string& given, const PersistentNodeOptions& options) {
  if (is_sequential(options.mode)) return {};  // The servers say which.
  if (options.protection == Protection::none) return given;
  return join(parent_of(given), "_c_" + make_uuid() + "-" + std::string{name_of(given)});
}

/// The error of a write; none if the next turn's read shows what became of the write.
error_code unless_a_look_tells(error_code error, bool is_create = false) {
  const bool refused = error == ServerErrc::bad_version || error == ServerErrc::node_exists ||
                       (error == ServerErrc::no_node && !is_create);
  const bool lost =
      error == ErrorCondition::outcome_unknown || error == ErrorCondition::session_over;
  return refused || lost ? error_code{} : error;
}

bool is_unique(const PersistentNodeOptions& options) {
  return is_sequential(options.mode) || options.protection == Protection::by_unique_name;
}

/// The mode in which a node is created again under the name that it has already.
CreateMode unnumbered(CreateMode mode) {
  switch (mode) {
    case CreateMode::persistent_sequential: return CreateMode::persistent;
    case CreateMode::ephemeral_sequential: return CreateMode::ephemeral;
    case CreateMode::persistent_sequential_with_ttl: return CreateMode::persistent_with_ttl;
    default: return mode;
  }
}

CreateOptions create_options(const PersistentNodeOptions& options) {
  return {.mode = options.mode,
          .parents = options.parents,
          .acl = options.acl,
          .ttl = options.ttl,
          .deadline = Deadline::never()};
}

}  // namespace

NodeKeeper::NodeKeeper(const Client& client, std::string path, std::string data,
                       PersistentNodeOptions options)
    : client_{client.share()},
      given_{std::move(path)},
      options_{std::move(options)},
      is_unique_{is_unique(options_)},
      over_{std::make_shared<Cancellation>(client.core())},
      listeners_{client.callback_executor()},
      claim_{.unique = is_unique_, .mode = options_.mode},
      wish_{std::move(data)} {
  check_path(client.core(), "PersistentNode", given_);
  CreateOptions checked = create_options(options_);
  if (claim_.unique) checked.protection = Protection::by_unique_name;
  check_create(client.core(), given_, wish_.data, checked);
  if (const error_code error = client.unusable()) throw Error{error, "PersistentNode", given_};
  path_ = path_for(given_, options_);
  data_ = wish_.data;
}

// -- The loop -------------------------------------------------------------------------------------

asio::awaitable<void> NodeKeeper::keep(NodeKeeperPtr self, NodeKeeperPtr before) {
  self->over_->on_request(self.get(), [weak = self->weak_from_this()] {
    if (const auto alive = weak.lock()) alive->interrupt();
  });
  while (before && !before->is_over()) {
    const CancellationPtr none;
    co_await before->wait_for_change(Deadline::never(), none);
  }
  if (has_ttl(self->options_.mode)) {
    spawn(self->client_.core(), "touching " + self->given_, keep_touching(self));
  }
  error_code end = Errc::closed;
  int failures = 0;
  while (!self->ends()) {
    Result<Seen> seen = co_await self->obtain();
    const error_code error = seen ? co_await self->act_on(std::move(*seen)) : seen.error();
    if (error == Errc::closed || error == ServerErrc::node_exists) {
      end = error;
      self->over_->request();
      break;
    }
    failures = error ? failures + 1 : 0;
    if (!error || self->ends()) continue;
    self->enter(State::refused, error);
    const CancellationPtr over = self->over_;
    co_await back_off(self->client_, failures - 1, Deadline::never(), over);
  }
  const error_code left = co_await self->clear_up();
  self->enter(State::closed, left && end != ServerErrc::node_exists ? left : end);
}

/// Reads the node. Creates it first if it does not exist.
asio::awaitable<Result<NodeKeeper::Seen>> NodeKeeper::obtain() {
  const CorePtr core = client_.core();
  const OperationOptions patient{Deadline::never(), client_.retry_policy().unlimited()};
  for (;;) {
    if (is_missing_ || path().empty()) {
      const error_code error = co_await create();
      if (error) co_return error;
      is_missing_ = false;
      if (path().empty()) continue;
    }
    const std::string path = this->path();
    Result<Seen> seen = co_await read_data(core, over_, path, patient, Watching::yes);
    note_session();
    if (seen || seen.error() != ServerErrc::no_node) co_return seen;
    enter(State::absent);
    is_missing_ = true;
  }
}

asio::awaitable<error_code> NodeKeeper::act_on(Seen seen) {
  const Stat& stat = seen.value.stat;
  wish_.written = has_written(revision_);
  switch (
      next_node_step(seen.value, claim_, wish_, options_.foreign_node, options_.foreign_write)) {
    case NodeStep::rest:
      claim_.czxid = stat.czxid;
      enter(State::present);
      wrote(revision_);
      co_return co_await rest(std::move(seen.watch));
    case NodeStep::write:
      claim_.czxid = stat.czxid;
      enter(State::present);
      co_return co_await write(stat.version);
    case NodeStep::replace:
      if (owner_of(seen.value, claim_) == NodeOwner::foreign) co_await pause_before_takeover();
      co_return co_await replace(stat.version);
    case NodeStep::adopt: claim_.czxid = stat.czxid; co_return error_code{};
    case NodeStep::wait:
      enter(State::taken, ServerErrc::node_exists);
      co_return co_await rest(std::move(seen.watch));
    case NodeStep::give_up: break;
  }
  // This object has no node, unless the reply to its create was lost, or the server lags behind.
  claim_.doubtful = claim_.doubtful || claim_.czxid > stat.czxid;
  is_sent_ = claim_.doubtful;
  enter(State::taken, ServerErrc::node_exists);
  co_return ServerErrc::node_exists;
}

// -- The requests ---------------------------------------------------------------------------------

asio::awaitable<error_code> NodeKeeper::create() {
  const CorePtr core = client_.core();
  CreateOptions how = create_options(options_);
  how.retry = client_.retry_policy().unlimited();
  std::string path = this->path();
  if (path.empty()) {
    path = given_;
    how.protection = Protection::by_unique_name;
  } else {
    how.mode = unnumbered(how.mode);
  }
  const std::uint64_t revision = revision_;
  begin_create();
  const auto [error, created] =
      co_await await<&start_create, Created>(core, over_, path, wish_.data, std::move(how));
  end_create(error);
  if (!error) {
    claim_.czxid = created.stat.czxid;
    name(created.path);
    wrote(revision);
  }
  co_return unless_a_look_tells(error, true);
}

asio::awaitable<error_code> NodeKeeper::write(std::int32_t version) {
  const CorePtr core = client_.core();
  const std::string path = this->path();
  const SetOptions if_unchanged{.version = version,
                                .deadline = Deadline::never(),
                                .retry = client_.retry_policy().unlimited()};
  const std::uint64_t revision = revision_;
  const auto [error, stat] =
      co_await await<&start_set, Stat>(core, over_, path, wish_.data, if_unchanged);
  if (!error) wrote(revision);
  co_return unless_a_look_tells(error);
}

/// Replaces the node that is there by this object's own, in one transaction.
asio::awaitable<error_code> NodeKeeper::replace(std::int32_t version) {
  const CorePtr core = client_.core();
  const std::string path = this->path();
  const OperationOptions patient{Deadline::never(), client_.retry_policy().unlimited()};
  Transaction exchange{
      custodian::remove(path, version),
      custodian::create(path, wish_.data, unnumbered(options_.mode), options_.acl)};
  const std::uint64_t revision = revision_;
  begin_create();
  const auto [error, results] = co_await await<&start_commit, std::vector<TransactionResult>>(
      core, over_, std::move(exchange), patient);
  end_create(error);
  if (!error) wrote(revision);
  co_return unless_a_look_tells(error);
}

/// Pauses longer each time, so that two objects that take a path over from each other slow down.
asio::awaitable<void> NodeKeeper::pause_before_takeover() {
  const int earlier = takeovers_++;
  if (earlier > 0) co_await back_off(client_, earlier - 1, Deadline::never(), over_);
}

/// Waits for the watch, or for an interruption. Without an error the next turn reads the node.
asio::awaitable<error_code> NodeKeeper::rest(Watch watch) {
  const CorePtr core = client_.core();
  const CancellationPtr interruption = std::make_shared<Cancellation>(core);
  if (ends()) co_return error_code{};
  interruption_ = interruption;
  const error_code ended = co_await until_changed(core, interruption, watch);
  interruption_ = nullptr;
  if (client_.session().id != claim_.session) enter(State::absent);
  co_return ended == asio::error::operation_aborted ? error_code{} : ended;
}

// -- The end --------------------------------------------------------------------------------------

/// Deletes the node if it is this object's. Returns no_auth or not_empty if the servers refuse.
asio::awaitable<error_code> NodeKeeper::clear_up() {
  int failures = 0;
  while (is_sent_ && !client_is_closing_) {
    const error_code error = co_await remove_if_ours();
    if (!error || error == Errc::closed) break;
    if (error == ServerErrc::no_auth || error == ServerErrc::not_empty) {
      client_.log(LogLevel::warning, "cannot delete " + path() + ": " + error.message());
      co_return error;
    }
    const CancellationPtr none;
    co_await back_off(client_, failures++, Deadline::never(), none);
  }
  if (claim_.doubtful && claim_.unique) {
    detail::remember_doubtful(*client_.core(), path(), detail::NodeOf::nobody, create_began_);
  }
  co_return error_code{};
}

/// Deletes the node if it is this object's. Without an error, this object has no node any more.
asio::awaitable<error_code> NodeKeeper::remove_if_ours() {
  const CorePtr core = client_.core();
  const std::string path = this->path();
  if (path.empty()) co_return error_code{};  // A create that is given up leaves no such node.
  const OperationOptions patient{Deadline::never(), client_.retry_policy().unlimited()};
  const CancellationPtr none;
  if (claim_.doubtful) {
    // A server that lags behind may not show the node yet.
    const auto [error] = co_await await<&start_sync>(core, none, path, patient);
    if (error) co_return error;
  }
  const Result<Seen> seen = co_await read_data(core, none, path, patient, Watching::no);
  note_session();
  if (!seen) co_return seen.error() == ServerErrc::no_node ? error_code{} : seen.error();
  if (owner_of(seen->value, claim_) == NodeOwner::foreign) co_return error_code{};
  const RemoveOptions this_one{.version = seen->value.stat.version,
                               .missing = Missing::is_fine,
                               .deadline = Deadline::never(),
                               .retry = client_.retry_policy().unlimited()};
  if (has_ttl(options_.mode)) {
    const RemoveOptions child{.missing = Missing::is_fine,
                              .deadline = Deadline::never(),
                              .retry = client_.retry_policy().unlimited()};
    const std::string touched = touch_path(path);
    const auto [failed] = co_await await<&start_remove>(core, none, touched, child);
    if (failed) co_return failed;
  }
  const auto [error] = co_await await<&start_remove>(core, none, path, this_one);
  co_return error;
}

void NodeKeeper::close() {
  if (is_forked()) return;
  closing_ = true;
  over_->request();
}

void NodeKeeper::client_closes() {
  client_is_closing_ = true;
  over_->request();
}

void NodeKeeper::fail(error_code error) { enter(State::closed, error); }

// -- State ----------------------------------------------------------------------------------------

void NodeKeeper::begin_create() {
  is_sent_ = true;
  claim_.created_with = wish_.data;
  create_began_ = std::chrono::steady_clock::now();
  note_session();
  claim_.sessions.insert(claim_.session);
}

/// A create that waited for a connection may have been sent in a later session.
void NodeKeeper::end_create(const error_code& error) {
  note_session();
  if (!error) {
    claim_.doubtful = false;
    claim_.sessions.clear();
  } else if (!is_answer_of_server(error)) {
    claim_.doubtful = true;
  }
  claim_.sessions.insert(claim_.session);
}

void NodeKeeper::note_session() { claim_.session = client_.session().id; }

void NodeKeeper::name(const std::string& path) {
  const std::lock_guard lock{mutex_};
  path_ = path;
}

std::uint64_t NodeKeeper::want(std::string data) {
  {
    const std::lock_guard lock{mutex_};
    data_ = data;
  }
  wish_.data = std::move(data);
  ++revision_;
  interrupt();
  return revision_;
}

void NodeKeeper::wrote(std::uint64_t revision) {
  if (has_written(revision)) return;
  written_ = revision;
  changes_.notify_all();
}

void NodeKeeper::interrupt() {
  if (interruption_) interruption_->request();
}

void NodeKeeper::enter(State state, error_code trouble) {
  trouble_ = trouble;
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(state_, state) == state) return;
  }
  listeners_.notify(state, trouble);
  changes_.notify_all();
}

asio::awaitable<void> NodeKeeper::wait_for_change(Deadline until, CancellationPtr cancellation) {
  const asio::any_io_executor strand = client_.get_executor();
  co_await changes_.wait(strand, until, cancellation);
}

std::string NodeKeeper::path() const {
  if (is_forked()) return {};
  const std::lock_guard lock{mutex_};
  return path_;
}

std::string NodeKeeper::data() const {
  if (is_forked()) return {};
  const std::lock_guard lock{mutex_};
  return data_;
}

NodeKeeper::State NodeKeeper::state() const {
  if (is_forked()) return State::closed;
  const std::lock_guard lock{mutex_};
  return state_;
}

Subscription NodeKeeper::listen(Listeners<State, error_code>::Listener listener) {
  if (is_forked()) return {};
  return listeners_.add(std::move(listener));
}

}  // namespace custodian::recipes_detail
