#include "local_handover/number_guard.hpp"

#include <utility>

namespace custodian::recipes_detail {

Epoch NumberGuard::epoch(const LockSpec& spec) const {
  const bool stands = watch_ && !detail::is_over(watch_.state()) &&
                      connection_ == detail::connection_number(*spec.client.core());
  return stands ? epoch_ : 0;
}

void NumberGuard::begin(const LockSpec& spec) {
  const std::uint64_t connection = detail::connection_number(*spec.client.core());
  if (epoch(spec) != 0) return;
  const bool is_over = watch_ && detail::is_over(watch_.state());
  if (asked_on_ == connection && !is_over) return;
  watch_ = {};
  asked_on_ = connection;
  // Once a connection: it is no loss if that fails.
  detail::start_get_and_watch(spec.client.core(), nullptr, spec.path,
                              {Deadline::never(), RetryPolicy::none()},
                              [weak = weak_from_this(), core = std::weak_ptr{spec.client.core()},
                               connection](error_code error, const GetResult&, Watch watch) {
                                const auto self = weak.lock();
                                const auto client = core.lock();
                                if (!self || !client || error) return;
                                if (detail::connection_number(*client) != connection) return;
                                self->watch_ = std::move(watch);
                                self->connection_ = connection;
                                ++self->epoch_;
                              });
}

}  // namespace custodian::recipes_detail
