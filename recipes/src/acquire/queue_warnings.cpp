#include "acquire/queue_warnings.hpp"

#include <algorithm>
#include <string>

#include "acquire/participants.hpp"
#include "custodian/authoring/path.hpp"

namespace custodian::recipes_detail {

void report_oddities(const LockSpec& spec, const Listing& listing) {
  if (!listing.foreign().empty() && !spec.foreign_reported.exchange(true)) {
    spec.client.log(LogLevel::warning, spec.path + " has a child that is no contender, " +
                                           std::string{listing.foreign().front()} +
                                           "; it is ignored");
  }
  if (!listing.contenders().empty() &&
      state_of(listing.contenders().back().sequence) == SequenceState::near_end &&
      !spec.end_reported.exchange(true)) {
    spec.client.log(LogLevel::warning,
                    spec.path + " comes near the end of its sequence numbers: use another path");
  }
  // Curator does not read kazoo's names, so it ignores a lock of kazoo's profile.
  if (spec.profile == NamingProfile::curator || spec.mixture_reported) return;
  const auto others =
      std::ranges::find(listing.contenders(), NamingProfile::curator, &ContenderName::profile);
  if (others == listing.contenders().end() || spec.mixture_reported.exchange(true)) return;
  spec.client.log(LogLevel::error,
                  spec.path + " is used by Apache Curator, too: " + std::string{others->name} +
                      ". It does not see the nodes of kazoo's profile, and will take the lock "
                      "when it should wait. Give the locks paths of their own");
}

error_code report_malformed(const LockSpec& spec, std::string_view name) {
  spec.client.log(LogLevel::error, join(spec.path, name) +
                                       " bears no sequence number: nobody can tell who is "
                                       "first. Remove it");
  return Errc::malformed_contender;
}

}  // namespace custodian::recipes_detail
