#include "run/after_command.hpp"

#include <utility>

namespace custodian::cli {

void AfterCommand::note_granted(Conclude conclude) {
  conclude_ = std::move(conclude);
  granted_ = std::chrono::steady_clock::now();
}

void AfterCommand::begin(std::optional<int> status, std::function<void()> then) {
  has_begun_ = true;
  has_run_ = status.has_value();
  if (conclude_) return conclude_(status, std::move(then));
  linger_.expires_at(hold_until());
  linger_.async_wait([then = std::move(then)](boost::system::error_code) { then(); });
}

bool AfterCommand::holds_on() const {
  return has_begun_ && !conclude_ && std::chrono::steady_clock::now() < hold_until();
}

std::chrono::steady_clock::time_point AfterCommand::hold_until() const {
  // If the command did not begin, the lock is not held on: another host may be able to run its
  // command.
  return has_run_ && hold_at_least_ ? granted_ + *hold_at_least_ : granted_;
}

}  // namespace custodian::cli
