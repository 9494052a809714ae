#pragma once

/// \file
/// at_client() runs a coroutine on the strand of another client, and returns to the caller's
/// strand.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>
#include <utility>

#include "custodian/authoring/bridge.hpp"
#include "custodian/authoring/result.hpp"
#include "custodian/authoring/spawn.hpp"

namespace custodian::recipes_detail {

/// Runs the coroutine on the strand of the client `at`, and continues on `home`, the strand on
/// which at_client() is awaited. Waits for the coroutine's end, however long the other client
/// takes.
template <typename T>
boost::asio::awaitable<Result<T>> at_client(boost::asio::any_io_executor home, CorePtr at,
                                            std::string what,
                                            boost::asio::awaitable<Result<T>> coroutine) {
  const auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
  auto [error, value] = co_await boost::asio::async_initiate<decltype(token), void(error_code, T)>(
      [](auto handler, boost::asio::any_io_executor back, CorePtr there, std::string name,
         boost::asio::awaitable<Result<T>> work) {
        spawn(there, name, std::move(work),
              [back, handler = std::move(handler)](error_code failure, T result) mutable {
                boost::asio::dispatch(back, [handler = std::move(handler), failure,
                                             result = std::move(result)]() mutable {
                  std::move(handler)(failure, std::move(result));
                });
              });
      },
      token, std::move(home), std::move(at), std::move(what), std::move(coroutine));
  if (error) co_return Result<T>{boost::system::in_place_error, error};
  co_return std::move(value);
}

/// A cancellation for operations of another client. The caller's cancellation requests it, too.
/// Made and destroyed on the caller's strand.
class ForwardedCancellation {
 public:
  /// `callers` may be null.
  ForwardedCancellation(CancellationPtr callers, const CorePtr& at)
      : callers_{std::move(callers)}, there_{std::make_shared<Cancellation>(at)} {
    if (!callers_) return;
    callers_->on_request(there_.get(), [there = there_] { there->request(); });
    if (callers_->requested()) there_->request();
  }
  ForwardedCancellation(const ForwardedCancellation&) = delete;
  ForwardedCancellation& operator=(const ForwardedCancellation&) = delete;
  ~ForwardedCancellation() {
    if (callers_) callers_->forget(there_.get());
  }

  [[nodiscard]] const CancellationPtr& there() const noexcept { return there_; }

 private:
  const CancellationPtr callers_;
  const CancellationPtr there_;
};

}  // namespace custodian::recipes_detail
