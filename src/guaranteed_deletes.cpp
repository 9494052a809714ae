#include "guaranteed_deletes.hpp"

#include "client_core.hpp"

namespace custodian::detail {

void GuaranteedDeletes::add(std::string path, std::int64_t session, std::shared_ptr<void> keep) {
  if (core_.closed()) return;  // the end of the session takes the node along
  const auto [position, is_new] =
      pending_.try_emplace(std::move(path), Pending{.session = session, .keep = std::move(keep)});
  if (is_new && core_.connected()) attempt(position->first, position->second);
}

void GuaranteedDeletes::resume() {
  for (auto& [path, pending] : pending_) {
    if (!pending.in_flight) attempt(path, pending);
  }
}

void GuaranteedDeletes::session_over(std::int64_t session) {
  std::erase_if(pending_, [&](const auto& each) { return each.second.session == session; });
}

void GuaranteedDeletes::attempt(const std::string& path, Pending& pending) {
  pending.in_flight = true;
  pending.timer.reset();
  core_.session().submit(request::Remove{path, any_version},
                         [weak = core_.weak_from_this(), path](const Reply& reply) {
                           if (const auto core = weak.lock()) {
                             core->deletes().on_result(path, reply.error);
                           }
                         });
}

void GuaranteedDeletes::on_result(const std::string& path, error_code error) {
  const auto found = pending_.find(path);
  if (found == pending_.end()) return;
  if (!error || error == ServerErrc::no_node) {
    pending_.erase(found);
    return;
  }
  const bool forbidden = error == ServerErrc::no_auth;
  if (forbidden || error == ServerErrc::not_empty) {
    const std::int64_t session = core_.session_info().id;
    const bool owned = session != 0 && found->second.session == session;
    core_.log(LogLevel::error, "cannot delete " + path + ": " + error.message() +
                                   (owned ? "; ending the session, which frees it" : ""));
    pending_.erase(found);
    if (owned) core_.end_session(session);
    return;
  }
  Pending& pending = found->second;
  pending.in_flight = false;
  // resume() follows with the next connection.
  if (error == ServerErrc::connection_loss || !core_.connected()) return;
  const RetryPolicy policy = core_.options().retry.unlimited();
  const auto pause = policy.pause_before({pending.retries++, {}, core_.random()});
  pending.timer = std::make_unique<boost::asio::steady_timer>(core_.strand(), pause.value());
  pending.timer->async_wait([weak = core_.weak_from_this(), path](error_code cancelled) {
    const auto core = weak.lock();
    if (core && !cancelled) core->deletes().try_again(path);
  });
}

void GuaranteedDeletes::try_again(const std::string& path) {
  const auto found = pending_.find(path);
  if (found == pending_.end() || found->second.in_flight || !core_.connected()) return;
  attempt(found->first, found->second);
}

}  // namespace custodian::detail
