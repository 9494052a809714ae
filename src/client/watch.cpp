#include "custodian/watch.hpp"

#include <utility>

#include "client/client_core.hpp"
#include "client/client_watcher.hpp"
#include "custodian/authoring/bound_to_context.hpp"

namespace custodian {

using detail::ClientWatcher;

void start_wait(CorePtr core, CancellationPtr cancellation, std::shared_ptr<ClientWatcher> watcher,
                Handler<WatchEventType> handler) {
  if (!watcher || core->forked()) {
    const Errc error = watcher ? Errc::forked : Errc::invalid_argument;
    return std::move(handler)(error, WatchEventType::deleted);
  }
  core->on_strand([watcher = std::move(watcher), cancellation = std::move(cancellation),
                   handler = std::move(handler)]() mutable {
    watcher->wait(std::move(cancellation), std::move(handler));
  });
}

void start_wait_of_user(CorePtr core, CancellationPtr cancellation,
                        std::shared_ptr<ClientWatcher> watcher, Handler<WatchEventType> handler) {
  Handler<WatchEventType> bound = bound_to_context(core, std::move(handler));
  start_wait(std::move(core), std::move(cancellation), std::move(watcher), std::move(bound));
}

namespace {

struct AnyOf {
  CancellationPtr turn;  ///< ends the waits for all watchers
  Handler<> handler;
  std::size_t waiting;
  std::optional<error_code> outcome{};
};

}  // namespace

void start_wait_any(CorePtr core, CancellationPtr cancellation,
                    std::vector<std::shared_ptr<ClientWatcher>> watchers, Handler<> handler) {
  auto any = std::make_shared<AnyOf>(
      AnyOf{std::make_shared<Cancellation>(core), std::move(handler), watchers.size()});
  core->on_strand([any, cancellation, watchers = std::move(watchers)] {
    if (cancellation) {
      cancellation->on_request(any.get(), [turn = any->turn] { turn->request(); });
      if (cancellation->requested()) any->turn->request();
    }
    for (const auto& watcher : watchers) {
      watcher->wait(any->turn, [any, cancellation](error_code error, WatchEventType) {
        // The first event ends the waits for the other watchers, too. The handler runs after the
        // last of these waits, so that each watcher can be waited for again.
        if (!any->outcome) any->outcome = error;
        any->turn->request();
        if (--any->waiting > 0) return;
        if (cancellation) cancellation->forget(any.get());
        std::move(any->handler)(*any->outcome);
      });
    }
  });
}

bool is_over(const std::shared_ptr<ClientWatcher>& watcher) { return watcher->over(); }

std::optional<WatchEventType> event_of(const std::shared_ptr<ClientWatcher>& watcher) {
  return watcher->event();
}

Watch::Watch(CorePtr core, std::shared_ptr<detail::ClientWatcher> watcher)
    : core_{std::move(core)}, watcher_{std::move(watcher)} {}

Watch& Watch::operator=(Watch&& other) noexcept {
  Watch taken{std::move(other)};
  // The destructor of `taken` ends the watch that was held here.
  std::swap(core_, taken.core_);
  std::swap(watcher_, taken.watcher_);
  return *this;
}

Watch::~Watch() {
  if (!watcher_ || core_->forked()) return;
  core_->on_strand([core = core_, watcher = watcher_] {
    watcher->abandon();
    core->session().unwatch(watcher);
  });
}

const CorePtr& Watch::core_for(std::string_view operation) const {
  if (!watcher_) throw Error{Errc::invalid_argument, operation, "", "the watch is empty"};
  return core_;
}

WatchEventType Watch::wait(std::stop_token stop) {
  return block_or_throw<&start_wait_of_user, WatchEventType>(core_for("wait"), "wait", "",
                                                             std::move(stop), watcher_);
}

}  // namespace custodian
