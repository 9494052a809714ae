#include "atomics/update_step.hpp"

#include <boost/asio/error.hpp>

namespace custodian::recipes_detail {

namespace {

/// The caller has given up: the outcome of what is under way stays unknown.
bool given_up(const error_code& error) noexcept {
  return error == boost::asio::error::operation_aborted || error == Errc::closed ||
         error == Errc::deadline_exceeded || error == Errc::deadline_exceeded_outcome_unknown;
}

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
    const bool settles = settle == Settle::exactly_once && !given_up(answer.error);
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
  return given_up(error) ? error : make_error_code(ServerErrc::connection_loss);
}

}  // namespace custodian::recipes_detail
