/// \file
/// In this file a session gives up watches so that it can go on, and ends if it cannot: see
/// ConnectionRecord and WatchTable::drop_beyond().

#include <algorithm>
#include <utility>

#include "session/probe.hpp"
#include "session/zookeeper_session.hpp"
#include "text/in_hex.hpp"

namespace custodian::detail {

using std::chrono::steady_clock;

// -- Watches --------------------------------------------------------------------------------------

void ZooKeeperSession::drop_excess_watches() {
  // The restored watches travel in a request by themselves. The other half of the limit is for
  // other requests.
  const std::size_t most = settings_.max_request_size / 2;
  const bool restored_all = std::exchange(restores_all_, !record_.restores_nothing());
  if (restored_all && !restores_all_ && watches_.armed_bytes() > 0) {
    log(LogLevel::error,
        "connections end before any request on them is answered: the servers may not accept the "
        "request that restores " +
            std::to_string(watches_.armed_bytes()) +
            " bytes of watches. They are armed one by one from now on; is "
            "ClientOptions::max_request_size (" +
            std::to_string(settings_.max_request_size) +
            ") larger than the servers' jute.maxbuffer?");
  }
  const bool event_lost = client_->has_lost_event();
  const auto dropped = watches_.drop_beyond(restores_all_ && !event_lost ? most : 0);
  if (dropped.empty()) return;
  const std::string why = event_lost ? " watches may have fired unseen, since an event was lost"
                                     : " watches are too many to be restored at once";
  log(LogLevel::info, std::to_string(dropped.size()) + why + "; what they were on is read again");
  forget(dropped);
  for (const auto& watch : dropped) {
    // Whether there was a change is unknown; the next read finds out.
    const auto type = watch.kind == WatchKind::data ? WatchEventType::data_changed
                                                    : WatchEventType::children_changed;
    for (const auto& watcher : watch.watchers) watcher->on_event({}, type);
  }
}

void ZooKeeperSession::forget(const std::vector<WatchTable::Dropped>& watches) {
  std::vector<KnownWatch> known;
  known.reserve(watches.size());
  for (const auto& watch : watches) known.push_back({watch.path, watch.kind});
  client_->forget_watches(known);
}

// -- Sessions that cannot go on -------------------------------------------------------------------

void ZooKeeperSession::retire() {
  if (!reconnect_.retire()) return;
  stop_probe();
  stop_trial();
  fail_operations(ServerErrc::connection_loss);
  // The watches must not be restored on the session's next connection.
  const auto armed = watches_.drop_beyond(0);
  if (client_) forget(armed);
  for (const auto& watch : armed) {
    for (const auto& watcher : watch.watchers) {
      watcher->on_event(Errc::session_lost, WatchEventType::deleted);
    }
  }
  end_watches(Errc::session_lost);
}

void ZooKeeperSession::hear_last_words() {
  // A server that refuses the first of many requests ends the connection without having read the
  // others, so the kernel resets it. If the C client notices that when it sends, it closes its
  // socket, and the refusal stays unread.
  // After an answer, the C client may have read a part of a reply, whose rest is no frame.
  if (record_.was_answered() || !refuses_unauthenticated(descriptor_.unread())) return;
  record_.answered();
  record_.unauthenticated(to_text(dialled_.endpoint), steady_clock::now());
}

void ZooKeeperSession::look_for_refusals() {
  if (!reconnect_.suspended() || info_.id == 0 || role_ == Role::probe) return;
  const auto now = steady_clock::now();
  // The probe is stopped here and not in the listener, which the probe itself calls.
  if (probed_) stop_probe();
  if (!probe_ && record_.wants_probe(now)) {
    probe_ = Probe::start(strand_, settings_, [this](Probe::Result result) {
      const auto ended = steady_clock::now();
      if (result == Probe::Result::connected) {
        record_.probe_connected(ended);
      } else {
        record_.probe_over(ended);
      }
      probed_ = true;
      schedule_pump();
    });
  }
  if (!record_.is_refused(addresses(), now)) return;
  give_up(
      "the servers accept its connections and end them without an answer, but begin a new session. "
      "They know less than this session has seen: they were rebuilt, restored from an older "
      "snapshot, or are another ensemble. What the session held is lost");
}

std::vector<std::string> ZooKeeperSession::addresses() const {
  std::vector<std::string> texts;
  texts.reserve(addresses_.size());
  for (const Address& address : addresses_) texts.push_back(to_text(address.endpoint));
  return texts;
}

void ZooKeeperSession::stop_probe() {
  probed_ = false;
  if (const auto probe = std::exchange(probe_, nullptr)) probe->stop();
}

void ZooKeeperSession::give_up(const std::string& reason) {
  log(LogLevel::warning, "giving the session up (" + in_hex(info_.id) + "): " + reason);
  on_session_over(SessionState::expired);
}

}  // namespace custodian::detail
