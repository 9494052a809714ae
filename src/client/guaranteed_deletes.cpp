#include "client/guaranteed_deletes.hpp"

#include <algorithm>

#include "base/printable.hpp"
#include "client/client_core.hpp"
#include "observe/observation.hpp"

namespace custodian::detail {

void GuaranteedDeletes::add(std::string path, std::int64_t session, std::shared_ptr<void> keep,
                            QueuedNodePtr in_line) {
  if (core_.closed()) return;  // the node ends with its session
  core_.late_creates().disown(path);
  const auto [position, is_new] =
      pending_.try_emplace(std::move(path), Pending{.session = session,
                                                    .turn = next_turn_++,
                                                    .in_line = std::move(in_line),
                                                    .keep = std::move(keep)});
  if (is_new && core_.connected()) attempt(position->first, position->second);
}

void GuaranteedDeletes::resume() {
  // The deletes are sent in the order of add(), because each node may shield the one behind it.
  to_resume_.clear();
  for (const auto& [path, pending] : pending_) {
    if (!pending.in_flight) to_resume_.emplace(pending.turn, path);
  }
  resume_next();
}

void GuaranteedDeletes::resume_next() {
  while (resumed_ < most_resumed && !to_resume_.empty() && core_.connected()) {
    const std::string path = std::move(to_resume_.extract(to_resume_.begin()).mapped());
    const auto found = pending_.find(path);
    if (found == pending_.end() || found->second.in_flight) continue;
    found->second.resumed = true;
    ++resumed_;
    attempt(path, found->second);
  }
}

void GuaranteedDeletes::clear() noexcept {
  pending_.clear();
  to_resume_.clear();
  resumed_ = 0;
}

void GuaranteedDeletes::session_over(std::int64_t session) {
  std::erase_if(pending_, [&](const auto& each) { return each.second.session == session; });
  resumed_ = static_cast<std::size_t>(
      std::ranges::count_if(pending_, [](const auto& each) { return each.second.resumed; }));
}

void GuaranteedDeletes::attempt(const std::string& path, Pending& pending) {
  pending.in_flight = true;
  ++pending.attempts;
  pending.timer.reset();
  const QueuedNodePtr checked = last_successor(pending.in_line);
  Request request = request::Remove{path, any_version};
  // The node is deleted only while its successor's node still exists, so the check and the delete
  // are one transaction.
  if (checked) {
    request = request::Multi{
        {transaction::Check{checked->path, any_version}, request::Remove{path, any_version}}};
  }
  core_.submit(std::move(request),
               [weak = core_.weak_from_this(), path, checked](const Reply& reply) {
                 if (const auto core = weak.lock()) {
                   core->deletes().on_reply(path, checked, reply);
                 }
               });
}

void GuaranteedDeletes::on_reply(const std::string& path, const QueuedNodePtr& checked,
                                 const Reply& reply) {
  const auto found = pending_.find(path);
  if (found == pending_.end()) return;
  const bool was_resumed = found->second.resumed;
  settle(path, checked, reply);
  const auto left = pending_.find(path);
  const bool goes_on = left != pending_.end() && left->second.in_flight;
  if (!was_resumed || goes_on) return;
  if (left != pending_.end()) left->second.resumed = false;
  if (resumed_ > 0) --resumed_;
  // After a lost reply, the other replies are lost, too: resume() begins anew on the next
  // connection.
  if (reply.error != ServerErrc::connection_loss) resume_next();
}

void GuaranteedDeletes::settle(const std::string& path, const QueuedNodePtr& checked,
                               const Reply& reply) {
  const auto found = pending_.find(path);
  const error_code error = reply.error;
  const bool check_failed = checked && error == ServerErrc::no_node && !reply.results.empty() &&
                            reply.results.front().error == error;
  if (check_failed) {
    // The successor's node is gone. Its owner is notified before the node that shields it is
    // deleted. If the successor has left its place meanwhile, the next attempt checks the present
    // owner of the place.
    if (!checked->left) tell_missing(*checked);
    return attempt(path, found->second);
  }
  if (checked && (error == ServerErrc::no_auth || error == Errc::request_too_large)) {
    // An ACL may forbid the check of the successor's node, or two such paths are too large for one
    // request. The next attempt deletes without the check.
    found->second.in_line.reset();
    return attempt(path, found->second);
  }
  if (!error || error == ServerErrc::no_node) {
    pending_.erase(found);
    return;
  }
  if (error == Errc::request_too_large) {
    core_.log(LogLevel::error, "cannot delete " + shortened(path) + ": " + error.message());
    pending_.erase(found);
    return;
  }
  // Repeating the delete would not help. If the present session owns the node, its end removes it.
  const bool forbidden = error == ServerErrc::no_auth;
  if (forbidden || error == ServerErrc::not_empty) {
    const std::int64_t session = core_.own_session_info().id;
    const bool owned = session != 0 && found->second.session == session;
    core_.log(LogLevel::error, "cannot delete " + path + ": " + error.message() +
                                   (owned ? "; ending the session, which frees it" : ""));
    core_.late_creates().forget(path);
    pending_.erase(found);
    if (owned) core_.sessions().end(session);
    return;
  }
  Pending& pending = found->second;
  pending.in_flight = false;
  // resume() sends the delete again on the next connection.
  if (error == ServerErrc::connection_loss || !core_.connected()) {
    return tell_retried(path, pending, error, std::chrono::milliseconds{0});
  }
  const RetryPolicy policy = core_.options().retry.unlimited();
  const auto pause = policy.pause_before({pending.retries++, {}, core_.random()});
  tell_retried(path, pending, error, pause.value());
  pending.timer = std::make_unique<boost::asio::steady_timer>(core_.strand(), pause.value());
  pending.timer->async_wait([weak = core_.weak_from_this(), path](error_code cancelled) {
    const auto core = weak.lock();
    if (core && !cancelled) core->deletes().try_again(path);
  });
}

void GuaranteedDeletes::tell_retried(const std::string& path, const Pending& pending,
                                     const error_code& error,
                                     std::chrono::milliseconds pause) const {
  if (Observation* const observation = core_.observation()) {
    observation->tell_retried("remove", path, error, pending.attempts, pause);
  }
}

void GuaranteedDeletes::try_again(const std::string& path) {
  const auto found = pending_.find(path);
  if (found == pending_.end() || found->second.in_flight || !core_.connected()) return;
  attempt(found->first, found->second);
}

}  // namespace custodian::detail
