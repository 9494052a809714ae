#include "custodian/mirror/mirror.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <optional>
#include <utility>

#include "async/end_of_wait.hpp"
#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/time_limit.hpp"
#include "mirror/change_listener.hpp"
#include "mirror/followed_tree.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace recipes_detail {

/// Ends a mirror together with its object, although waits and reads that are under way may keep the
/// tree alive for a while.
struct MirrorOwner {
  explicit MirrorOwner(FollowedTreePtr followed) : tree{std::move(followed)} {}
  MirrorOwner(const MirrorOwner&) = delete;
  MirrorOwner& operator=(const MirrorOwner&) = delete;
  ~MirrorOwner() { tree->close(); }
  const FollowedTreePtr tree;
};

namespace {

bool is_cancelled(const CancellationPtr& cancellation) {
  return cancellation && cancellation->requested();
}

asio::awaitable<Result<void>> wait_synced(FollowedTreePtr tree, CancellationPtr cancellation) {
  const auto strand = co_await asio::this_coro::executor;
  for (;;) {
    if (const error_code ended = tree->ended()) co_return ended;
    if (tree->state() == MirrorState::synced) co_return Result<void>{};
    if (is_cancelled(cancellation)) co_return asio::error::operation_aborted;
    co_await tree->news().wait(strand, Deadline::never(), cancellation);
  }
}

asio::awaitable<Result<bool>> wait_synced_until(FollowedTreePtr tree, CancellationPtr callers,
                                                Deadline until) {
  const auto strand = co_await asio::this_coro::executor;
  const TimeLimit limit{tree->client().core(), strand, until, std::move(callers)};
  const Result<void> ended = co_await wait_synced(tree, limit.cancellation());
  if (ended) co_return true;
  if (!tree->ended() && limit.has_ended(ended.error())) co_return false;
  co_return failed<bool>(ended.error());
}

asio::awaitable<Result<MirrorChange>> next_change(FollowedTreePtr tree,
                                                  CancellationPtr cancellation) {
  const auto strand = co_await asio::this_coro::executor;
  const FollowedTree::Reading reading{*tree};
  if (!reading) co_return Errc::invalid_argument;
  for (;;) {
    if (is_cancelled(cancellation)) co_return asio::error::operation_aborted;
    std::optional<MirrorChange> next = tree->stream().take();
    if (next) co_return std::move(*next);
    if (const error_code ended = tree->ended()) co_return ended;
    co_await tree->news().wait(strand, Deadline::never(), cancellation);
  }
}

}  // namespace

void start_wait_synced(CorePtr core, CancellationPtr cancellation, FollowedTreePtr tree,
                       Handler<> handler) {
  const std::string what = "waiting for the mirror of " + tree->path();
  Handler<> bound = bound_to_context(core, std::move(handler));
  spawn(core, what, wait_synced(std::move(tree), std::move(cancellation)), std::move(bound));
}

void start_timed_wait_synced(CorePtr core, CancellationPtr cancellation, FollowedTreePtr tree,
                             Deadline until, Handler<bool> handler) {
  const std::string what = "waiting for the mirror of " + tree->path();
  Handler<bool> bound = bound_to_context(core, std::move(handler));
  spawn(core, what, wait_synced_until(std::move(tree), std::move(cancellation), until),
        std::move(bound));
}

void start_next_change(CorePtr core, CancellationPtr cancellation, FollowedTreePtr tree,
                       Handler<MirrorChange> handler) {
  const std::string what = "reading the changes of " + tree->path();
  Handler<MirrorChange> bound = bound_to_context(core, std::move(handler));
  spawn(core, what, next_change(std::move(tree), std::move(cancellation)), std::move(bound));
}

}  // namespace recipes_detail

Mirror::Mirror(const Client& client, std::string_view recipe, std::string path,
               MirrorOptions options)
    : core_{client.core()} {
  check_path(core_, recipe, path);
  if (options.max_nodes == 0) {
    throw Error{Errc::invalid_argument, recipe, path, "max_nodes must not be 0"};
  }
  tree_ = recipes_detail::FollowedTree::follow(client, std::move(path), std::move(options));
  owner_ = std::make_shared<recipes_detail::MirrorOwner>(tree_);
}

const std::string& Mirror::path() const noexcept { return tree_->path(); }

MirroredNodePtr Mirror::get(std::string_view path) const { return tree_->get(path); }

std::vector<MirroredNodePtr> Mirror::children(std::string_view path) const {
  return tree_->children(path);
}

MirrorSnapshotPtr Mirror::snapshot() const { return tree_->snapshot(); }

MirrorState Mirror::state() const { return tree_->state(); }

void Mirror::wait_synced(std::stop_token stop) const {
  block_or_throw<&recipes_detail::start_wait_synced>(core_, "wait_synced", path(), std::move(stop),
                                                     tree_);
}

bool Mirror::wait_synced_until(Deadline until, std::stop_token stop) const {
  const auto ended = block_until<&recipes_detail::start_timed_wait_synced, bool>(
      core_, "wait_synced_until", path(), std::move(stop),
      recipes_detail::end_of_wait(tree_->client(), until), tree_, until);
  if (!ended) return false;
  const auto& [error, is_synced] = *ended;
  throw_if(*core_, error, "wait_synced_until", path());
  return is_synced;
}

MirrorChange Mirror::next(std::stop_token stop) {
  return block_or_throw<&recipes_detail::start_next_change, MirrorChange>(core_, "next", path(),
                                                                          std::move(stop), tree_);
}

Subscription Mirror::on_change(MirrorListener listener) const {
  return recipes_detail::listen_to(tree_, std::move(listener));
}

}  // namespace custodian
