#include "ordering/lock_spec.hpp"

#include <utility>

#include "custodian/authoring/observed_lock.hpp"
#include "custodian/observer.hpp"

namespace custodian::recipes_detail {

std::shared_ptr<LockSpec> make_lock_spec(const Client& client, std::string_view lock,
                                         const NamingRule& rule, ContenderKind kind,
                                         std::string path, LockOptions options,
                                         std::optional<ObservedAs> observed_as) {
  check_path(client.core(), lock, path);
  if (!is_valid(options.lease)) {
    throw Error{Errc::invalid_argument, lock, path,
                "hold_at_most: a lease must be held for some time"};
  }
  if (options.hand_off.max_local_handoffs() < 0) {
    throw Error{Errc::invalid_argument, lock, path,
                "hand_off: a cohort passes the lock on 0 times or more, not " +
                    std::to_string(options.hand_off.max_local_handoffs())};
  }
  if (options.hand_off != HandOff::strict() && options.lease.hold_at_most) {
    throw Error{
        Errc::invalid_argument, lock, path,
        "hand_off: holders of a cohort share a node, and hold_at_most would end it for all; "
        "give hold_at_most to the acquires that want it (AcquireOptions::lease)"};
  }
  if (options.keep_idle_for.count() < 0) {
    throw Error{Errc::invalid_argument, lock, path, "keep_idle_for: a duration of zero or more"};
  }
  if (options.keep_idle_for.count() > 0 && options.lease.hold_at_most) {
    throw Error{Errc::invalid_argument, lock, path,
                "keep_idle_for: the next holder has the same node, which hold_at_most would end; "
                "give hold_at_most to the acquires that want it (AcquireOptions::lease)"};
  }
  if (options.share_readers < 1) {
    throw Error{Errc::invalid_argument, lock, path,
                "share_readers: a reader's node serves 1 acquire or more, not " +
                    std::to_string(options.share_readers)};
  }
  if (options.share_readers > 1 && options.lease.hold_at_most) {
    throw Error{Errc::invalid_argument, lock, path,
                "share_readers: readers share a node, and hold_at_most would end it for all; give "
                "hold_at_most to the acquires that want it (AcquireOptions::lease)"};
  }
  if (options.identity.empty()) options.identity = client.identity();
  check_contender(client.core(), lock, path, lock_name_of(rule, kind, options.profile),
                  options.identity);
  LockPlacePtr place = take_place(client, lock, path);
  const auto [recipe, shown_path] = observed_as.value_or(ObservedAs{lock, path});
  auto observed = make_observed(client.core(), recipe, shown_path);
  return std::shared_ptr<LockSpec>{
      new LockSpec{.client = client.share(),
                   .path = std::move(path),
                   .rule = rule,
                   .kind = kind,
                   .profile = options.profile,
                   .lock_name = lock_name_of(rule, kind, options.profile),
                   .identity = std::move(options.identity),
                   .lease = options.lease,
                   .observed = std::move(observed),
                   .place = std::move(place)}};
}

}  // namespace custodian::recipes_detail
