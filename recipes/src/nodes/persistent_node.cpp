#include "custodian/nodes/persistent_node.hpp"

#include <utility>

#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/spawn.hpp"
#include "nodes/kept_paths.hpp"
#include "nodes/node_keeper.hpp"

namespace custodian {

namespace asio = boost::asio;

std::string_view to_string(PersistentNodeState state) noexcept {
  switch (state) {
    case PersistentNodeState::absent: return "absent";
    case PersistentNodeState::present: return "present";
    case PersistentNodeState::taken: return "taken";
    case PersistentNodeState::refused: return "refused";
    case PersistentNodeState::closed: return "closed";
  }
  return "unknown";
}

namespace recipes_detail {

namespace {

/// Why a wait for a keeper ends without what it waited for.
error_code reason_of(const NodeKeeper& keeper, error_code otherwise) {
  return keeper.trouble() ? keeper.trouble() : otherwise;
}

/// Waits until `is_done()`. At the deadline the error is the keeper's trouble, or `late`.
template <typename IsDone>
asio::awaitable<error_code> wait_until(NodeKeeperPtr keeper, CancellationPtr cancellation,
                                       Deadline until, Errc late, IsDone is_done) {
  while (!is_done(*keeper)) {
    if (keeper->is_over()) co_return reason_of(*keeper, Errc::closed);
    if (cancellation && cancellation->requested()) {
      co_return make_error_code(asio::error::operation_aborted);
    }
    if (until.passed()) co_return reason_of(*keeper, late);
    co_await keeper->wait_for_change(until, cancellation);
  }
  co_return error_code{};
}

asio::awaitable<Result<void>> wait_present(NodeKeeperPtr keeper, CancellationPtr cancellation,
                                           Deadline until) {
  const auto is_there = [](const NodeKeeper& each) { return each.is_present(); };
  const error_code error =
      co_await wait_until(keeper, cancellation, until, Errc::deadline_exceeded, is_there);
  if (error) co_return error;
  co_return Result<void>{};
}

asio::awaitable<Result<void>> set_data(NodeKeeperPtr keeper, CancellationPtr cancellation,
                                       std::string data, Deadline until) {
  const std::uint64_t revision = keeper->want(std::move(data));
  const auto is_written = [revision](const NodeKeeper& each) { return each.has_written(revision); };
  const error_code error = co_await wait_until(keeper, cancellation, until,
                                               Errc::deadline_exceeded_outcome_unknown, is_written);
  if (error) co_return error;
  co_return Result<void>{};
}

asio::awaitable<Result<bool>> close_node(NodeKeeperPtr keeper, CancellationPtr cancellation,
                                         Deadline until) {
  while (!keeper->is_over()) {
    if (cancellation && cancellation->requested()) {
      co_return failed<bool>(make_error_code(asio::error::operation_aborted));
    }
    if (until.passed()) co_return false;
    co_await keeper->wait_for_change(until, cancellation);
  }
  const error_code left = keeper->trouble();
  if (left == ServerErrc::no_auth || left == ServerErrc::not_empty) co_return failed<bool>(left);
  co_return true;
}

}  // namespace

void check_data(const NodeKeeperPtr& keeper, const std::string& data) {
  check_set(keeper->client().core(), keeper->given_path(), data);
}

void start_wait_present(CorePtr core, CancellationPtr cancellation, NodeKeeperPtr keeper,
                        OperationOptions options, Handler<> handler) {
  const Deadline until = keeper->client().deadline_or_default(options.deadline);
  Handler<> bound = bound_to_context(core, std::move(handler));
  spawn(core, "waiting for " + keeper->given_path(),
        wait_present(keeper, std::move(cancellation), until), std::move(bound));
}

void start_set_data(CorePtr core, CancellationPtr cancellation, NodeKeeperPtr keeper,
                    std::string data, OperationOptions options, Handler<> handler) {
  const Deadline until = keeper->client().deadline_or_default(options.deadline);
  Handler<> bound = bound_to_context(core, std::move(handler));
  spawn(core, "writing " + keeper->given_path(),
        set_data(keeper, std::move(cancellation), std::move(data), until), std::move(bound));
}

void start_close_node(CorePtr core, CancellationPtr cancellation, NodeKeeperPtr keeper,
                      Deadline deadline, Handler<bool> handler) {
  keeper->close();
  const Deadline until = keeper->client().deadline_or_default(deadline);
  Handler<bool> bound = bound_to_context(core, std::move(handler));
  spawn(core, "closing " + keeper->given_path(), close_node(keeper, std::move(cancellation), until),
        std::move(bound));
}

}  // namespace recipes_detail

PersistentNode::PersistentNode(const Client& client, std::string path, std::string data,
                               PersistentNodeOptions options)
    : core_{client.core()},
      keeper_{std::make_shared<recipes_detail::NodeKeeper>(client, std::move(path), std::move(data),
                                                           std::move(options))} {
  auto& paths = client.share().use_service<recipes_detail::KeptPaths>();
  recipes_detail::NodeKeeperPtr before = paths.enter(keeper_);
  spawn(core_, "keeping " + keeper_->given_path(),
        recipes_detail::NodeKeeper::keep(keeper_, std::move(before)),
        [keeper = keeper_](error_code error) { keeper->fail(error); });
}

PersistentNode& PersistentNode::operator=(PersistentNode&& other) noexcept {
  if (this == &other) return *this;
  if (keeper_) keeper_->close();
  core_ = std::move(other.core_);
  keeper_ = std::move(other.keeper_);
  return *this;
}

PersistentNode::~PersistentNode() {
  if (keeper_) keeper_->close();
}

std::string PersistentNode::path() const { return keeper_->path(); }
std::string PersistentNode::data() const { return keeper_->data(); }
PersistentNode::State PersistentNode::state() const { return keeper_->state(); }

Subscription PersistentNode::on_state(Listener listener) const {
  return keeper_->listen(std::move(listener));
}

void PersistentNode::wait_present(OperationOptions options) const {
  block_in_time_or_throw<&recipes_detail::start_wait_present>(
      core_, "wait_present", keeper_->given_path(), {}, {options.deadline}, keeper_, options);
}

void PersistentNode::set_data(std::string data, OperationOptions options) {
  recipes_detail::check_data(keeper_, data);
  block_in_time_or_throw<&recipes_detail::start_set_data>(
      core_, "set_data", keeper_->given_path(), {},
      {options.deadline, Errc::deadline_exceeded_outcome_unknown}, keeper_, std::move(data),
      options);
}

bool PersistentNode::close(Deadline deadline) {
  const Deadline until = keeper_->client().deadline_or_default(deadline);
  const auto ended = block_until<&recipes_detail::start_close_node, bool>(
      core_, "close", keeper_->given_path(), {}, until, keeper_, until);
  if (!ended) return false;
  throw_if(*core_, std::get<error_code>(*ended), "close", keeper_->given_path());
  return std::get<bool>(*ended);
}

}  // namespace custodian
