#include "custodian/authoring/spawn.hpp"

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <new>
#include <string>

#include "client/client_core.hpp"

namespace custodian {

namespace {

struct Failure {
  error_code error;
  std::string text;
};

Failure failure_of(const std::exception_ptr& thrown) {
  namespace errc = boost::system::errc;
  try {
    std::rethrow_exception(thrown);
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

}  // namespace

void spawn(const CorePtr& core, std::string_view what, boost::asio::awaitable<void> coroutine,
           std::function<void(error_code)> on_failure) {
  boost::asio::co_spawn(core->strand(), std::move(coroutine),
                        [weak = std::weak_ptr{core}, what = std::string{what},
                         on_failure = std::move(on_failure)](const std::exception_ptr& thrown) {
                          if (!thrown) return;
                          const Failure failure = failure_of(thrown);
                          if (const auto alive = weak.lock()) {
                            alive->log(LogLevel::error, what + " has failed: " + failure.text);
                          }
                          if (on_failure) on_failure(failure.error);
                        });
}

bool detail::is_forked(const ClientCore& core) noexcept { return core.forked(); }

}  // namespace custodian
