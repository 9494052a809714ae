#include "custodian/authoring/time_limit.hpp"

#include <boost/asio/error.hpp>
#include <utility>

namespace custodian {

TimeLimit::TimeLimit(const CorePtr& core, const boost::asio::any_io_executor& strand,
                     Deadline until, CancellationPtr callers)
    : cancellation_{std::make_shared<Cancellation>(core)},
      callers_{std::move(callers)},
      passed_{std::make_shared<bool>(false)},
      timer_{strand} {
  // Neither action refers to this object: a timer's handler may run when the object is gone.
  if (callers_) {
    const auto cancel = [cancellation = cancellation_] { cancellation->request(); };
    callers_->on_request(this, cancel);
    if (callers_->requested()) cancel();  // on_request() does nothing after the request
  }
  if (until.or_default(Deadline::never()).is_never()) return;
  timer_.expires_at(until.time_point());
  timer_.async_wait([cancellation = cancellation_, passed = passed_](error_code stopped) {
    if (stopped || cancellation->requested()) return;
    *passed = true;
    cancellation->request();
  });
}

TimeLimit::~TimeLimit() {
  if (callers_) callers_->forget(this);
}

bool TimeLimit::has_ended(error_code error) const {
  return *passed_ && error == boost::asio::error::operation_aborted;
}

}  // namespace custodian
