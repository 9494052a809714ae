#include "custodian/authoring/spawn.hpp"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <string>

#include "client/client_core.hpp"
#include "custodian/authoring/thrown.hpp"

namespace custodian {

namespace {

Thrown failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (...) {
    return thrown_now();
  }
}

}  // namespace

void spawn(const CorePtr& core, std::string_view what, boost::asio::awaitable<void> coroutine,
           std::function<void(error_code)> on_failure) {
  boost::asio::co_spawn(core->strand(), std::move(coroutine),
                        [weak = std::weak_ptr{core}, what = std::string{what},
                         on_failure = std::move(on_failure)](const std::exception_ptr& thrown) {
                          if (!thrown) return;
                          const Thrown failure = failure_of(thrown);
                          if (const auto alive = weak.lock()) {
                            alive->log(LogLevel::error, what + " has failed: " + failure.text);
                          }
                          if (on_failure) on_failure(failure.error);
                        });
}

bool detail::is_forked(const ClientCore& core) noexcept { return core.forked(); }

}  // namespace custodian
