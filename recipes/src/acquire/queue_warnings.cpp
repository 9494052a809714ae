#include "acquire/queue_warnings.hpp"

#include <algorithm>
#include <string>

#include "acquire/participants.hpp"

namespace custodian::recipes_detail {

void report_oddities(const Queue& queue, const Listing& listing) {
  if (!listing.foreign().empty() && !queue.foreign_reported.exchange(true)) {
    queue.client.log(LogLevel::warning, queue.path + " has a child that is no contender, " +
                                            std::string{listing.foreign().front()} +
                                            "; it is ignored");
  }
  if (!listing.contenders().empty() &&
      state_of(listing.contenders().back().sequence) == SequenceState::near_end &&
      !queue.end_reported.exchange(true)) {
    queue.client.log(LogLevel::warning,
                     queue.path + " comes near the end of its sequence numbers: use another path");
  }
  if (queue.profile == Profile::curator || queue.mixture_reported) return;
  const auto others =
      std::ranges::find(listing.contenders(), Profile::curator, &Contender::profile);
  if (others == listing.contenders().end() || queue.mixture_reported.exchange(true)) return;
  queue.client.log(LogLevel::error,
                   queue.path + " is used by Apache Curator, too: " + std::string{others->name} +
                       ". It does not see the nodes of kazoo's profile, and will take the lock "
                       "when it should wait. Give the locks paths of their own");
}

error_code report_malformed(const Queue& queue, std::string_view name) {
  queue.client.log(LogLevel::error, child(queue.path, name) +
                                        " bears no sequence number: nobody can tell who is "
                                        "first. Remove it");
  return Errc::malformed_contender;
}

}  // namespace custodian::recipes_detail
