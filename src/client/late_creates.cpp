#include "client/late_creates.hpp"

#include <utility>

#include "base/paths.hpp"
#include "client/client_core.hpp"
#include "client/operation.hpp"
#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/doubtful_create.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

LateCreates::LateCreates(ClientCore& core) : core_{core}, timer_{core.strand()} {}

void LateCreates::remember(const std::string& parent, std::string protection,
                           std::optional<std::string> kept, Clock::time_point began) {
  if (core_.closed()) return;
  const auto now = Clock::now();
  const bool of_one_session = !retired_ || *retired_ < began;
  doubtful_.add(parent, std::move(protection), std::move(kept), now, now + term(of_one_session));
  schedule();
}

void LateCreates::session_retired() {
  retired_ = Clock::now();
  doubtful_.extend(*retired_ + term(false));
}

LateCreates::Clock::duration LateCreates::term(bool of_one_session) const {
  const Clock::duration timeout = core_.own_session_info().timeout;
  return of_one_session ? timeout : 4 * timeout;
}

void LateCreates::clear() {
  doubtful_.clear();
  timer_.cancel();
}

void LateCreates::schedule() {
  const auto next = doubtful_.next();
  if (looking_ || !next) return;
  timer_.expires_at(*next);
  timer_.async_wait([weak = core_.weak_from_this()](error_code error) {
    const auto core = weak.lock();
    if (core && !error) core->late_creates().begin_look();
  });
}

void LateCreates::begin_look() {
  if (core_.closed() || std::exchange(looking_, true)) return;
  const auto core = core_.shared_from_this();
  spawn(core, "looking for nodes of creates that came late", look(core),
        [weak = std::weak_ptr{core}](error_code) {
          if (const auto alive = weak.lock()) alive->late_creates().on_look_failed();
        });
}

void LateCreates::on_look_failed() {
  looking_ = false;
  const auto now = Clock::now();
  for (const std::string& parent : doubtful_.due(now)) {
    doubtful_.looked(parent, DoubtfulCreates::Look::failed, now, now);
  }
  schedule();
}

asio::awaitable<void> LateCreates::look(CorePtr core) {
  LateCreates& self = core->late_creates();
  const auto began = Clock::now();
  const std::vector<std::string> parents = self.doubtful_.due(began);
  for (const std::string& parent : parents) {
    const DoubtfulCreates::Look seen = co_await look_below(core, parent);
    if (core->closed()) co_return;
    self.doubtful_.looked(parent, seen, began, Clock::now());
  }
  self.looking_ = false;
  self.schedule();
}

asio::awaitable<DoubtfulCreates::Look> LateCreates::look_below(CorePtr core, std::string parent) {
  using enum DoubtfulCreates::Look;
  const Plan plan{Deadline::never(), core->options().retry.unlimited(), Repeat::always};
  // The sync is needed because a server that lags behind would list the past.
  Request sync = request::Sync{parent};
  const Reply synced = co_await reply_to(core, std::move(sync), plan, nullptr);
  if (synced.error) co_return is_answer_of_server(synced.error) ? complete : failed;
  Request list = request::GetChildren{parent, nullptr};
  const Reply listing = co_await reply_to(core, std::move(list), plan, nullptr);
  if (listing.stamp.connection != synced.stamp.connection) co_return failed;
  // The look is complete if the parent is gone, since it has nothing below it, or if the parent may
  // not be listed, since it will never show anything.
  if (listing.error) co_return is_answer_of_server(listing.error) ? complete : failed;
  // The owning session need not be known: the node is deleted, or the servers forbid it.
  constexpr std::int64_t no_session = 0;
  const std::vector<std::string> strays =
      core->late_creates().doubtful_.strays(parent, listing.children);
  for (const std::string& path : strays) {
    if (core->deletes().has(path)) continue;
    core->log(LogLevel::info, "a create that came late has left " + path + "; deleting it");
    core->deletes().add(path, no_session);
  }
  co_return complete;
}

}  // namespace custodian::detail
