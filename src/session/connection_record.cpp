#include "session/connection_record.hpp"

#include <algorithm>
#include <utility>

#include "session/reconnect.hpp"

namespace custodian::detail {

void ConnectionRecord::connected(Time now, Duration timeout) {
  timeout_ = timeout;
  connected_ = true;
  asked_ = false;
  answered_ = false;
  served_ = false;
  refuses_ = false;
  if (unanswered_ == 0) unanswered_since_ = now;
  first_probe_.reset();
  last_probe_.reset();
  probe_rests_until_.reset();
  has_stood_ = true;
  doubted_.clear();
  refused_identities_.clear();
  continuations_ = 0;
  attempts_.clear();
  refusals_ = 0;
}

void ConnectionRecord::asked() { asked_ = true; }

void ConnectionRecord::answered() {
  answered_ = true;
  unanswered_ = 0;
}

void ConnectionRecord::disconnected(Time now, EndedBy whom) {
  connected_ = false;
  disconnected_at_ = now;
  // A server whose connection this side ended may only be slow, so that end does not count.
  if (asked_ && !answered_ && whom == EndedBy::peer) ++unanswered_;
  restores_nothing_ = restores_nothing_ || unanswered_ >= suspicious;
}

void ConnectionRecord::unauthenticated(const std::string& address, Time now) {
  refuses_ = true;
  unauthenticated_.try_emplace(address, now);
}

void ConnectionRecord::identity_refused(const std::string& address, Time now) {
  if (has_stood_ && doubted_.insert(address).second) return;
  refused_identities_.try_emplace(address, now);
}

void ConnectionRecord::continued_unauthenticated(Time now) {
  if (continuations_++ == 0) first_continuation_ = now;
}

bool ConnectionRecord::served() noexcept {
  if (std::exchange(served_, true)) return false;
  unauthenticated_.clear();
  return true;
}

void ConnectionRecord::attempted(const std::string& address, Time now) {
  if (servers_work(now)) ++attempts_[address];
}

void ConnectionRecord::refused(Time now) {
  if (servers_work(now)) ++refusals_;
}

void ConnectionRecord::probe_connected(Time now) {
  if (!first_probe_) first_probe_ = now;
  last_probe_ = now;
}

void ConnectionRecord::probe_over(Time now) {
  probe_rests_until_ = now + ReconnectPace::refused_credentials;
}

bool ConnectionRecord::servers_work(Time now) const noexcept {
  return last_probe_ && now - *last_probe_ < timeout_;
}

bool ConnectionRecord::never_answers(Time now) const noexcept {
  return unanswered_ >= 2 * suspicious && now - unanswered_since_ >= timeout_;
}

bool ConnectionRecord::lacks_authentication(const std::vector<std::string>& addresses,
                                            Time now) const {
  return is_enough(unauthenticated_, addresses, now);
}

bool ConnectionRecord::is_identity_refused(const std::vector<std::string>& addresses,
                                           Time now) const {
  return is_enough(refused_identities_, addresses, now);
}

bool ConnectionRecord::is_enough(const Refusals& said, const std::vector<std::string>& addresses,
                                 Time now) const {
  // One refusal alone counts only after a session timeout: a member of the ensemble may have been
  // configured before the others.
  const auto has_said_so = [&](const std::string& address) { return said.contains(address); };
  const auto said_so_long_ago = [&](const std::string& address) {
    return has_said_so(address) && now - said.at(address) >= timeout_;
  };
  return std::ranges::any_of(addresses, said_so_long_ago) ||
         (!addresses.empty() && std::ranges::all_of(addresses, has_said_so));
}

bool ConnectionRecord::is_never_authenticated(Time now) const noexcept {
  return continuations_ >= suspicious && now - first_continuation_ >= timeout_;
}

bool ConnectionRecord::wants_probe(Time now) const noexcept {
  if (probe_rests_until_ && now < *probe_rests_until_) return false;
  return !connected_ && !servers_work(now) && now - disconnected_at_ >= timeout_;
}

bool ConnectionRecord::is_refused(const std::vector<std::string>& addresses, Time now) const {
  // Servers that have just come back may have too many clients, and refuse some, for a moment.
  constexpr Duration least = std::chrono::seconds{1};
  const auto was_tried = [&](const std::string& address) {
    const auto attempts = attempts_.find(address);
    return attempts != attempts_.end() && attempts->second >= 2;
  };
  return servers_work(now) && now - *first_probe_ >= std::max(least, timeout_ / 6) &&
         refusals_ >= suspicious && std::ranges::all_of(addresses, was_tried);
}

}  // namespace custodian::detail
