#include "lock_sets/held_custom.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <utility>

#include "custodian/authoring/thrown.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// Whether this thread is running the client's strand.
bool is_on_strand(const Client& client) {
  const asio::any_io_executor executor = client.get_executor();
  const auto* const strand = executor.target<asio::strand<asio::any_io_executor>>();
  return strand != nullptr && strand->running_in_this_thread();
}

/// Releases the hold, which is user code. Throws nothing, because a destructor calls this.
void release(const Client& home, const std::string& name, CustomHold& hold) {
  try {
    hold.release();
  } catch (...) {
    home.log(LogLevel::error, "releasing " + name + " has failed: " + thrown_now().text);
  }
}

}  // namespace

HeldCustom::HeldCustom(const Client& home, std::string name, std::unique_ptr<CustomHold> hold)
    : home_{home.share()}, name_{std::move(name)}, hold_{std::move(hold)}, lost_{hold_->lost()} {}

HeldCustom::~HeldCustom() {
  if (home_.unusable() == Errc::forked) {
    // In the child of a fork the hold belongs to the parent, and mutexes may be locked for ever.
    [[maybe_unused]] const auto* const leaked = hold_.release();
    return;
  }
  if (is_on_strand(home_)) {
    release_elsewhere();
  } else {
    release(home_, name_, *hold_);
  }
}

void HeldCustom::release_elsewhere() {
  try {
    asio::post(home_.callback_executor(),
               [home = home_.share(), name = name_, hold = std::move(hold_)] {
                 release(home, name, *hold);
               });
  } catch (...) {
    home_.log(LogLevel::error, "releasing " + name_ + " has failed: " + thrown_now().text);
  }
}

}  // namespace custodian::recipes_detail
