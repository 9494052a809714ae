#include "watched_service.hpp"

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <random>
#include <utility>

namespace custodian::discovery_detail {

namespace asio = boost::asio;

namespace {

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

WatchedService::WatchedService(const Client& client, std::string path,
                               ServiceProviderOptions options)
    : client_{client.share()},
      path_{std::move(path)},
      filters_{std::move(options.filters)},
      over_{std::make_shared<Cancellation>(client.core())},
      down_{options.down},
      choice_{options.strategy, random_seed()} {}

// -- The changes of the mirror, one after the other, on the strand --------------------------------

void WatchedService::follow() {
  {
    const std::lock_guard lock{mutex_};
    cache_.emplace(client_, path_);
  }
  ask_next();
}

void WatchedService::ask_next() {
  const std::lock_guard lock{mutex_};
  if (!cache_) return;
  cache_->async_next(
      asio::bind_executor(client_.get_executor(),
                          [weak = weak_from_this()](error_code error, const MirrorChange& change) {
                            const auto alive = weak.lock();
                            if (!alive) return;
                            if (error) return alive->end(error);
                            alive->take(change);
                            alive->ask_next();
                          }));
}

void WatchedService::take(const MirrorChange& change) {
  if (change.kind == MirrorChangeKind::synced) {
    const std::lock_guard lock{mutex_};
    is_loaded_ = true;
  } else if (change.kind == MirrorChangeKind::removed) {
    remove(change.before->path);
  } else if (change.node->path != path_) {
    note(change.node->path, change.node->data, change.node->access);
  }
  changes_.notify_all();
}

void WatchedService::note(const std::string& node, std::string_view data, MirrorAccess access) {
  std::optional<std::string> fault;
  {
    const std::lock_guard lock{mutex_};
    fault = known_.put(node, data);
  }
  if (access == MirrorAccess::refused) fault = "the servers do not let this client read it";
  if (fault) client_.log(LogLevel::warning, node + " is no instance: " + *fault);
}

void WatchedService::remove(const std::string& node) {
  const std::lock_guard lock{mutex_};
  known_.remove(node);
}

void WatchedService::end(error_code why) {
  {
    const std::lock_guard lock{mutex_};
    if (!ended_) ended_ = why;
  }
  changes_.notify_all();
}

void WatchedService::close() {
  std::optional<PathChildrenCache> cache;
  {
    const std::lock_guard lock{mutex_};
    cache.swap(cache_);
    // If the service has ended already, the client's context may be gone.
    if (ended_) return;
    ended_ = asio::error::operation_aborted;
  }
  over_->request();
}

// -- What is known --------------------------------------------------------------------------------

std::vector<InstancePtr> WatchedService::available_now(DownInstances::Time now) {
  std::vector<InstancePtr> result;
  std::ranges::copy_if(known_.all(), std::back_inserter(result), [&](const InstancePtr& each) {
    return each->enabled && !down_.is_down(each->id, now) &&
           std::ranges::all_of(filters_, [&](const auto& accepts) { return accepts(*each); });
  });
  return result;
}

std::vector<InstancePtr> WatchedService::available() {
  const std::lock_guard lock{mutex_};
  return available_now(Deadline::Clock::now());
}

InstancePtr WatchedService::get() {
  const std::lock_guard lock{mutex_};
  return choice_.next(available_now(Deadline::Clock::now()));
}

InstancePtr WatchedService::get_for(std::string_view key) { return instance_for(key, available()); }

void WatchedService::note_error(std::string_view id) {
  const std::lock_guard lock{mutex_};
  down_.note_error(id, Deadline::Clock::now());
}

MirrorState WatchedService::state() const {
  const std::lock_guard lock{mutex_};
  const MirrorState state = cache_ ? cache_->state() : MirrorState::closed;
  // The mirror may be ahead: some of its changes have not arrived here yet.
  return state == MirrorState::synced && !is_loaded_ ? MirrorState::loading : state;
}

std::vector<std::string> WatchedService::malformed() const {
  const std::lock_guard lock{mutex_};
  return known_.malformed();
}

error_code WatchedService::ended() const {
  const std::lock_guard lock{mutex_};
  return ended_;
}

asio::awaitable<void> WatchedService::wait_for_change(Deadline until,
                                                      CancellationPtr cancellation) {
  const auto strand = co_await asio::this_coro::executor;
  over_->on_request(this, [weak = weak_from_this()] {
    if (const auto alive = weak.lock()) alive->changes_.notify_all();
  });
  {
    const std::lock_guard lock{mutex_};
    // An instance that is down becomes available again without a change of its node.
    if (const auto back = down_.next_return(Deadline::Clock::now())) {
      until = Deadline{std::min(until.time_point(), *back)};
    }
  }
  co_await changes_.wait(strand, until, std::move(cancellation));
}

}  // namespace custodian::discovery_detail
