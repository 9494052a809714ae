#include "mirror/change_listener.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <deque>
#include <mutex>
#include <utility>

#include "custodian/authoring/thrown.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// A listener, and the changes of which it was not notified yet. The subscription owns this object;
/// a posted call does not.
class ChangeListener final : public ChangeFeed,
                             public std::enable_shared_from_this<ChangeListener> {
 public:
  ChangeListener(const FollowedTreePtr& tree, MirrorListener listener)
      : tree_{tree}, listener_{std::move(listener)}, turn_{tree->client().callback_executor()} {}

  void put(const std::vector<MirrorChange>& changes) override {
    if (changes.empty()) return;
    {
      const std::lock_guard lock{mutex_};
      changes_.insert(changes_.end(), changes.begin(), changes.end());
      if (std::exchange(is_posted_, true)) return;
    }
    post();
  }

 private:
  void post() {
    asio::post(turn_, [weak = weak_from_this()] { notify_of_one(weak); });
  }

  /// Notifies of one change only, and posts the next call, so that other callbacks run in between.
  static void notify_of_one(const std::weak_ptr<ChangeListener>& weak) {
    const auto self = weak.lock();
    if (!self) return;
    self->notify(self->take());
    // If the listener has ended its subscription, this is the last owner.
    if (self->is_done()) return;
    self->post();
  }

  [[nodiscard]] MirrorChange take() {
    const std::lock_guard lock{mutex_};
    MirrorChange next = std::move(changes_.front());
    changes_.pop_front();
    return next;
  }
  [[nodiscard]] bool is_done() {
    const std::lock_guard lock{mutex_};
    is_posted_ = !changes_.empty();
    return !is_posted_;
  }

  void notify(const MirrorChange& change) const {
    try {
      listener_(change);
    } catch (...) {
      const Thrown thrown = thrown_now();
      const auto tree = tree_.lock();
      if (!tree) return;
      tree->client().log(LogLevel::error, "a listener of the mirror of " + tree->path() +
                                              " has thrown: " + thrown.text);
    }
  }

  const std::weak_ptr<FollowedTree> tree_;  ///< for its log
  const MirrorListener listener_;
  /// Keeps the listener's calls from overlapping, even if several threads run the callback
  /// executor.
  const asio::strand<asio::any_io_executor> turn_;
  std::mutex mutex_;  ///< guards what follows
  std::deque<MirrorChange> changes_;
  bool is_posted_ = false;
};

}  // namespace

Subscription listen_to(const FollowedTreePtr& tree, MirrorListener listener) {
  if (!listener) throw Error{Errc::invalid_argument, "on_change", tree->path(), "no listener"};
  if (tree->client().unusable() == Errc::forked) {
    throw Error{Errc::forked, "on_change", tree->path()};
  }
  auto listening = std::make_shared<ChangeListener>(tree, std::move(listener));
  tree->feed(listening);
  return Subscription{std::move(listening)};
}

}  // namespace custodian::recipes_detail
