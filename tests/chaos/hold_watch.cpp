#include "hold_watch.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace custodian::chaos {

HoldWatch::HoldWatch(std::shared_ptr<const Journal> journal, std::int64_t id, Lease lease,
                     BootClock::time_point at, std::int64_t session)
    : journal_{std::move(journal)}, id_{id}, lease_{std::move(lease)} {
  std::ostringstream granted;
  granted << "granted " << id_ << ' ' << lease_.token() << " 0x" << std::hex << session << ' '
          << lease_.node();
  journal_->note(at, granted.str());
  loss_.emplace(lease_.lost(), NoteLoss{journal_, id_});
  states_ = lease_.on_state([journal = journal_, id](LeaseState state) {
    journal->note("state " + std::to_string(id) + " " + std::string{to_string(state)});
  });
}

void HoldWatch::release() {
  // The release is recorded before it begins: afterwards the lock may already have passed on.
  std::string reason{to_string(lease_.loss_reason())};
  std::ranges::replace(reason, ' ', '_');
  journal_->note("released " + std::to_string(id_) + " " + reason);
  lease_.release();
}

}  // namespace custodian::chaos
