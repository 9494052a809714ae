#include "acquire/start_acquire.hpp"

#include <utility>

#include "acquire/contender.hpp"
#include "acquire/downgrade.hpp"

namespace custodian::recipes_detail {

namespace {

void attempt_beside(const AcquirePtr& acquire) { attempt_by(acquire, stand_beside(acquire)); }

}  // namespace

void start_acquire_within(const LockSpecPtr& spec, CancellationPtr cancellation,
                          WaitLimit wait_limit, AcquireOptions options, Lease held,
                          Handler<AcquireResult> handler) {
  error_code error = held ? objection_to(*spec, held) : error_code{};
  if (!error && held && is_of_same_kind(*spec, held)) {
    return std::move(handler)(error, AcquireResult{.lease = std::move(held)});
  }
  if (error) return std::move(handler)(error, AcquireResult{});
  const Attempt attempt = held ? attempt_beside : acquire_lock;
  start(std::make_shared<Acquire>(Acquire{.spec = spec,
                                          .wait_limit = wait_limit,
                                          .options = std::move(options),
                                          .attempt = attempt,
                                          .held = std::move(held)}),
        std::move(cancellation), as_one_lease(std::move(handler)));
}

}  // namespace custodian::recipes_detail
