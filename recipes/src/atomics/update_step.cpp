#include "atomics/update_step.hpp"

#include <boost/asio/error.hpp>

namespace custodian::recipes_detail {

namespace {

Step after_refusal(Refused refused) noexcept {
  switch (refused) {
    case Refused::lock: return Step::acquire_again;
    case Refused::value: return Step::read_again;
    case Refused::witness: return Step::new_witness;
    case Refused::nothing: break;
  }
  return Step::fail;
}

}  // namespace

Step after_try(const TryAnswer& answer, Doubt doubt, Settle settle) noexcept {
  if (!answer.error) return Step::done;
  if (answer.error == ErrorCondition::outcome_unknown) {
    const bool has_time = answer.error != Errc::deadline_exceeded_outcome_unknown;
    const bool settles = has_time && settle == Settle::exactly_once;
    return settles ? Step::repeat : Step::fail;
  }
  const bool asks = doubt == Doubt::applied_perhaps && answer.refused == Refused::value;
  return asks ? Step::ask_witness : after_refusal(answer.refused);
}

Step after_testimony(Testimony testimony) noexcept {
  switch (testimony) {
    case Testimony::of_this_update: return Step::done;
    case Testimony::of_another: return Step::read_again;
    case Testimony::missing: break;
  }
  return Step::fail;
}

error_code end_error(const error_code& error, Doubt doubt) noexcept {
  if (doubt == Doubt::none || error == ErrorCondition::outcome_unknown) return error;
  if (error == Errc::deadline_exceeded) return Errc::deadline_exceeded_outcome_unknown;
  const bool given_up = error == boost::asio::error::operation_aborted || error == Errc::closed;
  return given_up ? error : make_error_code(ServerErrc::connection_loss);
}

}  // namespace custodian::recipes_detail
