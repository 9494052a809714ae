#include "lock_sets/held_custom.hpp"

#include <exception>
#include <new>
#include <utility>

namespace custodian::recipes_detail {

HeldCustom::HeldCustom(const Client& home, std::string name, std::unique_ptr<CustomHold> hold)
    : home_{home.share()}, name_{std::move(name)}, hold_{std::move(hold)}, lost_{hold_->lost()} {}

HeldCustom::~HeldCustom() {
  if (home_.unusable() == Errc::forked) {
    // It is the parent's; and mutexes may be locked for ever.
    [[maybe_unused]] const auto* const leaked = hold_.release();
    return;
  }
  try {
    hold_->release();
  } catch (...) {
    home_.log(LogLevel::error, "releasing " + name_ + " has failed: " + thrown_now().text);
  }
}

Thrown thrown_now() {
  namespace errc = boost::system::errc;
  try {
    throw;
  } catch (const boost::system::system_error& exception) {
    return {exception.code(), exception.what()};
  } catch (const std::bad_alloc&) {
    return {make_error_code(errc::not_enough_memory), "out of memory"};
  } catch (const std::exception& exception) {
    return {make_error_code(errc::state_not_recoverable), exception.what()};
  } catch (...) {
    return {make_error_code(errc::state_not_recoverable), "something that is no std::exception"};
  }
}

}  // namespace custodian::recipes_detail
