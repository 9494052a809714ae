#include "shared/value_listener.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <mutex>
#include <utility>

#include "async/backoff.hpp"
#include "custodian/authoring/spawn.hpp"
#include "shared/shared_node.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// The object that a Subscription keeps alive. It does not own the client, which may end first.
template <typename T>
struct Registration {
  Registration(std::function<void(const Versioned<T>&)> function, CancellationPtr ending)
      : listener{std::move(function)}, over{std::move(ending)} {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() { over->request(); }

  const std::function<void(const Versioned<T>&)> listener;
  const CancellationPtr over;
};

/// The newest value that the listener has not received yet: a slow listener skips older ones.
template <typename T>
class Outbox : public std::enable_shared_from_this<Outbox<T>> {
 public:
  Outbox(const asio::any_io_executor& callbacks, std::weak_ptr<Registration<T>> registration)
      : turn_{callbacks}, registration_{std::move(registration)} {}

  void put(Versioned<T> value) {
    {
      const std::lock_guard lock{mutex_};
      if (std::exchange(next_, std::move(value))) return;  // the pending call gets this one
    }
    asio::post(turn_, [self = this->shared_from_this()] { self->show(); });
  }

 private:
  void show() {
    std::optional<Versioned<T>> value;
    {
      const std::lock_guard lock{mutex_};
      value = std::exchange(next_, std::nullopt);
    }
    if (const auto registration = registration_.lock()) registration->listener(*value);
  }

  /// Keeps the listener's calls from overlapping, even if several threads run the callback
  /// executor.
  const asio::strand<asio::any_io_executor> turn_;
  const std::weak_ptr<Registration<T>> registration_;
  std::mutex mutex_;  ///< guards what follows
  std::optional<Versioned<T>> next_;
};

void complain(const SharedNode& node, const error_code& error, std::string_view what_next) {
  node.client.log(LogLevel::warning, node.path + " cannot be followed: " + error.message() + "; " +
                                         std::string{what_next});
}

template <typename T>
asio::awaitable<void> follow(SharedNodePtr node, CancellationPtr over,
                             std::shared_ptr<Outbox<T>> outbox) {
  Sighting seen;
  Watch watch;
  int failures = 0;
  while (!over->requested()) {
    Result<Watched<GetResult>> found = co_await next_news_of(node, over, seen, std::move(watch));
    watch = found ? std::move(found->watch) : Watch{};
    if (!found) {
      const error_code error = found.error();
      if (error == asio::error::operation_aborted || error == Errc::closed) co_return;
      // Only the first failure in a row is logged.
      if (failures == 0) complain(*node, error, "trying again");
      co_await back_off(node->client, failures++, Deadline::never(), over);
      continue;
    }
    failures = 0;
    seen = sighting_of(*node, found->value.stat);
    Result<Versioned<T>> value = understood<T>(*node, std::move(found->value));
    if (value) {
      outbox->put(std::move(*value));
    } else {
      complain(*node, value.error(), "waiting for the next change");
    }
  }
}

}  // namespace

template <typename T>
Subscription listen(const SharedNodePtr& node, std::function<void(const Versioned<T>&)> listener) {
  const Client& client = node->client;
  if (!listener) throw Error{Errc::invalid_argument, "on_change", node->path, "no listener"};
  if (client.unusable() == Errc::forked) throw Error{Errc::forked, "on_change", node->path};
  const auto over = std::make_shared<Cancellation>(client.core());
  auto registration = std::make_shared<Registration<T>>(std::move(listener), over);
  const auto outbox = std::make_shared<Outbox<T>>(client.callback_executor(), registration);
  spawn(client.core(), "following " + node->path, follow<T>(node, over, outbox));
  return Subscription{std::move(registration)};
}

template Subscription listen(const SharedNodePtr&,
                             std::function<void(const Versioned<std::string>&)>);
template Subscription listen(const SharedNodePtr&,
                             std::function<void(const Versioned<std::int32_t>&)>);

}  // namespace custodian::recipes_detail
