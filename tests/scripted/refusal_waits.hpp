#pragma once

/// \file
/// Steps of orders (refusal_play.hpp) that act while an operation waits, or that call blocking
/// functions.

#include <atomic>
#include <boost/asio/post.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "custodian/error.hpp"
#include "custodian/lease/lease.hpp"
#include "scripted/refusal_play.hpp"
#include "scripted/refusal_steps.hpp"

namespace custodian::tests {

/// Begins an operation, calls `meanwhile` as soon as `waits` returns true, and runs the operation
/// to its end. If the operation is refused, and so ends before, `meanwhile` is called then.
template <typename... Results, typename Start>
Outcome<Results...> run_meanwhile(OrderScene& scene, Start start,
                                  const std::function<bool()>& waits,
                                  const std::function<void()>& meanwhile) {
  return scene.run<Results...>([&](auto done) {
    const auto ended = std::make_shared<bool>(false);
    start([done, ended](error_code error, Results... results) {
      *ended = true;
      done(error, std::move(results)...);
    });
    scene.wait_until([&] { return *ended || waits(); });
    meanwhile();
  });
}

/// Runs a blocking call in a thread of its own, while this thread runs the world. An Error that it
/// throws fails the order.
inline void run_blocking(OrderScene& scene, const std::function<void()>& call) {
  scene.let_it_go_on();
  std::atomic<bool> ended = false;
  error_code error;
  std::thread thread{[&] {
    try {
      call();
    } catch (const Error& thrown) {
      error = thrown.code();
    }
    ended = true;
    boost::asio::post(scene.world.context, [] {});
  }};
  if (!scene.wait_until([&] { return ended.load(); })) {
    // Closing its client ends the call.
    scene.complain("a call does not end");
    scene.client.async_close(Deadline{std::chrono::seconds{0}}, [](error_code, bool) {});
    while (!ended) scene.world.run_for(std::chrono::milliseconds{1});
  }
  thread.join();
  scene.note(error);
}

/// Another client, with the lease that it has acquired before the order begins.
class OtherHolder {
 public:
  /// `acquire` begins an acquire of a client: `[](const Client& client, auto done) {...}`.
  template <typename Acquire>
  OtherHolder(OrderScene& scene, Acquire acquire) : client_{scene} {
    auto outcome = tests::run<Lease>(scene.world, [&](auto done) { acquire(*client_, done); });
    if (outcome.arrived() && !outcome.error()) {
      lease_ = std::move(outcome.result());
    } else {
      scene.complain("the other client does not acquire");
    }
  }

  [[nodiscard]] Client& client() { return *client_; }
  [[nodiscard]] Lease& lease() { return lease_; }
  void release() { lease_.release(); }

 private:
  OtherClient client_;
  Lease lease_;
};

}  // namespace custodian::tests
