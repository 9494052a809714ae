#include "local_handover/sequence_continuity.hpp"

#include <utility>

namespace custodian::recipes_detail {

ParentEra SequenceContinuity::era(const LockSpec& spec) const {
  const bool stands = watch_ && !is_over(watch_.state()) &&
                      connection_ == detail::connection_number(*spec.client.core());
  return stands ? era_ : 0;
}

void SequenceContinuity::begin(const LockSpec& spec) {
  const std::uint64_t connection = detail::connection_number(*spec.client.core());
  if (era(spec) != 0) return;
  const bool is_over = watch_ && custodian::is_over(watch_.state());
  if (asked_on_ == connection && !is_over) return;
  watch_ = {};
  asked_on_ = connection;
  // This request is sent once on each connection, and again after the watch has fired. If the
  // request fails, contenders list instead.
  start_get_and_watch(spec.client.core(), nullptr, spec.path,
                      {Deadline::never(), RetryPolicy::none()},
                      [weak = weak_from_this(), core = std::weak_ptr{spec.client.core()},
                       connection](error_code error, const GetResult&, Watch watch) {
                        const auto self = weak.lock();
                        const auto client = core.lock();
                        if (!self || !client || error) return;
                        // The order of messages holds on one connection only.
                        if (detail::connection_number(*client) != connection) return;
                        self->watch_ = std::move(watch);
                        self->connection_ = connection;
                        ++self->era_;
                      });
}

}  // namespace custodian::recipes_detail
