#include "mirror/followed_tree.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/errc.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "async/backoff.hpp"
#include "custodian/authoring/spawn.hpp"
#include "custodian/authoring/thrown.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// Reads wait for a connection, and are repeated, without a limit.
OperationOptions patient(const Client& client) {
  return {Deadline::never(), client.retry_policy().unlimited()};
}

std::size_t place_of(MirrorRead what) { return what == MirrorRead::children ? 1 : 0; }

/// The predicate is user code: an exception must not end the mirror.
MirrorOptions guarded(const Client& client, MirrorOptions options) {
  if (!options.accept) return options;
  auto users = std::move(options.accept);
  const auto log = std::make_shared<const Client>(client.share());
  options.accept = [users = std::move(users), log](std::string_view path) {
    try {
      return users(path);
    } catch (...) {
      log->log(LogLevel::error, "the predicate of a mirror has thrown for " + std::string{path} +
                                    ", which is left out: " + thrown_now().text);
      return false;
    }
  };
  return options;
}

}  // namespace

// -- From the beginning to the end ----------------------------------------------------------------

std::shared_ptr<FollowedTree> FollowedTree::follow(const Client& client, std::string path,
                                                   MirrorOptions options) {
  const auto tree = std::make_shared<FollowedTree>(client.share(), std::move(path),
                                                   guarded(client, std::move(options)));
  if (const error_code unusable = client.unusable()) {
    tree->ended_ = unusable;
    return tree;
  }
  const std::string what = "mirroring " + tree->path_;
  spawn(client.core(), what, follow(tree), [tree](error_code) { tree->news_.notify_all(); });
  spawn(client.core(), what, follow_connection(tree));
  return tree;
}

FollowedTree::FollowedTree(Client client, std::string path, MirrorOptions options)
    : client_{std::move(client)},
      path_{path},
      over_{std::make_shared<Cancellation>(client_.core())},
      tree_{std::move(path), std::move(options)} {}

/// A local variable of follow(): abandons the tree when the coroutine ends or is destroyed.
struct FollowedTree::Following {
  explicit Following(FollowedTree& followed) : tree{followed} {}
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;
  ~Following() { tree.abandon(); }
  FollowedTree& tree;
};

asio::awaitable<void> FollowedTree::follow(std::shared_ptr<FollowedTree> tree) {
  const Following following{*tree};
  const auto strand = co_await asio::this_coro::executor;
  const CorePtr core = tree->client_.core();
  const CancellationPtr over = tree->over_;
  const OperationOptions options = patient(tree->client_);
  int failures = 0;
  while (!tree->ended() && !over->requested()) {
    const std::string path = tree->path_;
    const auto [error] = co_await await<&start_sync>(core, over, path, options);
    if (error == Errc::closed) tree->end(error);
    if (error) {
      if (failures == 0) tree->log_failure(error);
      co_await back_off(tree->client_, failures++, Deadline::never(), over);
      continue;
    }
    failures = 0;
    tree->begin_session();
    while (tree->has_session() && !over->requested()) {
      co_await tree->attention_.wait(strand, tree->next_try(), over);
      tree->try_again_if_due();
    }
  }
  tree->end(asio::error::operation_aborted);
}

asio::awaitable<void> FollowedTree::follow_connection(std::shared_ptr<FollowedTree> tree) {
  const CorePtr core = tree->client_.core();
  const CancellationPtr over = tree->over_;
  ConnectionState known = tree->client_.connection_state();
  while (!tree->ended()) {
    tree->on_connection(known);
    const auto [error, state] =
        co_await await<&start_wait_connection_state, ConnectionState>(core, over, known);
    if (error) co_return;
    known = state;
  }
}

void FollowedTree::begin_session() {
  session_ = client_.session().id;
  connection_ = detail::connection_number(*client_.core());
  if (session_ == 0) return;  // over already
  reads_ = std::make_shared<Cancellation>(client_.core());
  step([](MirrorTree& tree) { return tree.connected(), true; });
  send_reads();
}

void FollowedTree::end_session() {
  if (std::exchange(session_, 0) == 0) return;
  is_pausing_ = false;
  next_try_ = Deadline::never();
  std::exchange(reads_, nullptr)->request();
  const std::deque<Watches> over = std::exchange(watches_, {});
  step([](MirrorTree& tree) { return tree.session_lost(), true; });
  attention_.notify_all();
  news_.notify_all();
}

void FollowedTree::on_connection(ConnectionState state) {
  // A change of the session is noticed here first: otherwise the tree would count as in sync.
  if (has_session()) static_cast<void>(is_same_session());
  {
    const std::lock_guard lock{mutex_};
    is_connected_ = custodian::is_connected(state);
  }
  news_.notify_all();
}

void FollowedTree::end(error_code error) {
  {
    const std::lock_guard lock{mutex_};
    if (ended_) return;
    ended_ = error;
  }
  end_session();
  over_->request();
  news_.notify_all();
}

void FollowedTree::abandon() noexcept {
  {
    const std::lock_guard lock{mutex_};
    if (ended_) return;
    ended_ = Errc::closed;
  }
  session_ = 0;
  watches_.clear();
}

void FollowedTree::close() {
  // In a forked child the mutex may be locked for ever. A mirror that has ended may have outlived
  // its context, which must not be touched then.
  if (client_.unusable() == Errc::forked || ended()) return;
  over_->request();
}

error_code FollowedTree::ended() const {
  const std::lock_guard lock{mutex_};
  return ended_;
}

// -- Reads, replies and events --------------------------------------------------------------------

void FollowedTree::send_reads() {
  if (std::exchange(is_sending_, true)) return;
  for (;;) {
    std::optional<PlannedRead> next;
    if (has_session() && !is_pausing_) {
      const std::lock_guard lock{mutex_};
      next = tree_.next_read();
    }
    if (!next) break;
    send(std::move(*next));
  }
  is_sending_ = false;
}

void FollowedTree::send(PlannedRead read) {
  const CorePtr& core = client_.core();
  const auto self = shared_from_this();
  const MirrorReadId id = read.id;
  switch (id.what) {
    case MirrorRead::data:
      return start_get_and_watch(core, reads_, std::move(read.path), patient(client_),
                                 [self, id](error_code error, GetResult found, Watch watch) {
                                   self->on_reply(id, error, std::move(watch), std::move(found),
                                                  &MirrorTree::on_data);
                                 });
    case MirrorRead::existence:
      return start_exists_and_watch(
          core, reads_, std::move(read.path), patient(client_),
          [self, id](error_code error, std::optional<Stat> found, Watch watch) {
            self->on_reply(id, error, std::move(watch), found, &MirrorTree::on_existence);
          });
    case MirrorRead::children:
      return start_children_and_watch(core, reads_, std::move(read.path), patient(client_),
                                      [self, id](error_code error, Children found, Watch watch) {
                                        self->on_reply(id, error, std::move(watch),
                                                       std::move(found), &MirrorTree::on_children);
                                      });
  }
}

template <typename Found, typename Accept>
void FollowedTree::on_reply(const MirrorReadId& read, error_code error, Watch watch, Found found,
                            Accept accept) {
  if (!has_session() || !is_same_session()) return;
  if (error) return on_failure(read, error);
  failures_ = 0;
  const bool is_of_use =
      step([&](MirrorTree& tree) { return std::invoke(accept, tree, read, std::move(found)); });
  // Kept after the reply was passed on, so that an event of the watch follows the reply.
  if (is_of_use && has_session()) keep(read, std::move(watch));
  send_reads();
}

void FollowedTree::on_failure(const MirrorReadId& read, error_code error) {
  if (error == asio::error::operation_aborted) return;
  if (error == Errc::closed) return end(error);
  if (error == ServerErrc::no_node) {
    step([&](MirrorTree& tree) { return tree.on_missing(read), true; });
  } else if (error == ServerErrc::no_auth && read.what != MirrorRead::existence) {
    step([&](MirrorTree& tree) { return tree.on_refused(read), true; });
  } else {
    step([&](MirrorTree& tree) { return tree.on_failed(read), true; });
    if (failures_ == 0) log_failure(error);
    is_pausing_ = true;
    try_later(failures_++);
  }
  send_reads();
}

void FollowedTree::keep(const MirrorReadId& read, Watch watch) {
  if (watches_.size() <= read.index) watches_.resize(read.index + 1);
  Watch& kept = watches_[read.index][place_of(read.what)];
  kept = std::move(watch);
  start_wait(client_.core(), nullptr, kept.state(),
             [weak = weak_from_this(), read](error_code error, WatchEventType event) {
               if (const auto self = weak.lock()) self->on_event(read, error, event);
             });
}

void FollowedTree::on_event(const MirrorReadId& read, error_code error, WatchEventType event) {
  // This object itself has dropped the watch.
  if (error == asio::error::operation_aborted || !has_session()) return;
  // The watch has ended with its session, or with its client: follow() finds out which.
  if (error || !is_same_session()) return end_session();
  step([&](MirrorTree& tree) { return tree.on_watch_ended(read, event), true; });
  send_reads();
}

bool FollowedTree::is_same_session() {
  const std::uint64_t connection = detail::connection_number(*client_.core());
  if (std::exchange(connection_, connection) == connection) return true;
  if (client_.session().id == session_) return true;
  end_session();
  return false;
}

// -- What follows ---------------------------------------------------------------------------------

bool FollowedTree::step(const std::function<bool(MirrorTree&)>& take) {
  bool result = false;
  bool has_changed = false;
  bool overflowed = false;
  bool root_is_refused = false;
  std::vector<std::string> refusals;
  // Destroyed after the mutex is unlocked: a listener's own objects may call the mirror.
  std::vector<Watches> over;
  std::vector<std::shared_ptr<ChangeFeed>> notified;
  {
    const std::lock_guard lock{mutex_};
    result = take(tree_);
    for (const Index index : tree_.take_released()) {
      if (index < watches_.size()) over.push_back(std::exchange(watches_[index], {}));
    }
    refusals = tree_.take_refusals();
    overflowed = tree_.overflowed() && !ended_;
    root_is_refused = tree_.root_is_refused();
    const std::vector<MirrorChange> changes = tree_.take_changes();
    has_changed = !changes.empty();
    if (has_changed) notified = pass_on(changes);
  }
  for (const std::string& path : refusals) {
    client_.log(LogLevel::warning, path + " may not be read, and is mirrored without what it has");
  }
  if (has_changed) news_.notify_all();
  if (!root_is_refused) refused_ = 0;
  if (root_is_refused && next_try_.is_never() && has_session()) try_later(refused_++);
  if (overflowed) {
    client_.log(LogLevel::error, path_ + " is not mirrored any more: it has more nodes than " +
                                     "MirrorOptions::max_nodes");
    end(make_error_code(boost::system::errc::no_buffer_space));
  }
  return result;
}

std::vector<std::shared_ptr<ChangeFeed>> FollowedTree::pass_on(
    const std::vector<MirrorChange>& changes) {
  std::vector<std::shared_ptr<ChangeFeed>> notified;
  std::erase_if(feeds_, [&](const std::weak_ptr<ChangeFeed>& weak) {
    const auto& feed = notified.emplace_back(weak.lock());
    if (feed) feed->put(changes);
    return feed == nullptr;
  });
  return notified;
}

void FollowedTree::log_failure(error_code error) const {
  if (error == asio::error::operation_aborted || error == Errc::closed) return;
  client_.log(LogLevel::warning,
              path_ + " cannot be mirrored: " + error.message() + "; trying again");
}

void FollowedTree::try_later(int failures) {
  const std::chrono::milliseconds of_no_account{0};
  const auto pause = pause_before(client_.retry_policy().unlimited(), failures, of_no_account);
  next_try_ = Deadline{*pause};
  attention_.notify_all();
}

void FollowedTree::try_again_if_due() {
  if (!next_try_.passed()) return;
  next_try_ = Deadline::never();
  is_pausing_ = false;
  step([](MirrorTree& tree) { return tree.retry_root(); });
  send_reads();
}

ChangeStream& FollowedTree::stream() {
  if (!stream_) {
    stream_ = std::make_shared<ChangeStream>();
    feed(stream_);
  }
  return *stream_;
}

void FollowedTree::feed(const std::shared_ptr<ChangeFeed>& feed) {
  const std::lock_guard lock{mutex_};
  if (ended_) return;
  std::vector<MirrorChange> present;
  const MirrorSnapshotPtr known = tree_.snapshot();
  present.reserve(known->size() + 1);
  for (const MirroredNodePtr& node : known->nodes()) {
    present.push_back({MirrorChangeKind::added, node, nullptr});
  }
  if (tree_.state() == MirrorState::synced) present.push_back({});
  feed->put(present);
  feeds_.push_back(feed);
}

// -- The nodes ------------------------------------------------------------------------------------

MirroredNodePtr FollowedTree::get(std::string_view path) const {
  // In a forked child the mutex may be locked for ever.
  if (client_.unusable() == Errc::forked) return nullptr;
  const std::lock_guard lock{mutex_};
  return tree_.get(path);
}

std::vector<MirroredNodePtr> FollowedTree::children(std::string_view path) const {
  if (client_.unusable() == Errc::forked) return {};
  const std::lock_guard lock{mutex_};
  return tree_.children(path);
}

MirrorSnapshotPtr FollowedTree::snapshot() const {
  if (client_.unusable() == Errc::forked) return std::make_shared<MirrorSnapshot>();
  const std::lock_guard lock{mutex_};
  return tree_.snapshot();
}

MirrorState FollowedTree::state() const {
  if (client_.unusable() == Errc::forked) return MirrorState::closed;
  const std::lock_guard lock{mutex_};
  if (ended_) return MirrorState::closed;
  const MirrorState state = tree_.state();
  return is_connected_ || state == MirrorState::loading ? state : MirrorState::suspended;
}

}  // namespace custodian::recipes_detail
