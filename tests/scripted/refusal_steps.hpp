#pragma once

/// \file
/// The steps that the orders of play_every_refusal() have in common: an operation that waits for
/// others, and a client that does something meanwhile.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "scripted/refusal_play.hpp"

namespace custodian::tests {

/// Runs until the operation has ended, or its client has `watches` watches.
template <typename... Results>
void until_asleep(OrderScene& scene, const Outcome<Results...>& outcome, std::size_t watches = 1) {
  const std::int64_t session = scene.client.session().id;
  const auto& ensemble = scene.world.ensemble;
  if (!scene.wait_until(
          [&] { return outcome.arrived() || ensemble.watches(session) >= watches; })) {
    scene.complain("an operation neither ends nor waits");
  }
  scene.world.settle();
}

/// Waits for the end of an operation that has begun.
template <typename... Results>
void end_of(OrderScene& scene, const Outcome<Results...>& outcome) {
  if (scene.wait_until([&] { return outcome.arrived(); })) {
    scene.note(outcome.error());
  } else {
    scene.complain("an operation does not end");
  }
}

/// An operation that its caller gives up, unless it has ended.
template <typename... Results>
class GivenUp {
 public:
  /// Starts the operation: `start(token)`.
  template <typename Start>
  explicit GivenUp(Start start) {
    // If the order is ended early, the operation outlives this object, and still needs the signal.
    start(boost::asio::bind_cancellation_slot(
        signal_->slot(), [signal = signal_, done = outcome.handler()](auto... results) {
          done(std::move(results)...);
        }));
  }

  /// Gives the operation up as soon as its client has `watches` watches, and runs it to its end.
  void give_up(OrderScene& scene, std::size_t watches = 1) {
    until_asleep(scene, outcome, watches);
    signal_->emit(boost::asio::cancellation_type::terminal);
    scene.wait_until([&] { return outcome.arrived(); });
    const bool is_aborted =
        outcome.arrived() && outcome.error() == boost::asio::error::operation_aborted;
    if (!is_aborted) end_of(scene, outcome);
  }

  Outcome<Results...> outcome{};

 private:
  const std::shared_ptr<boost::asio::cancellation_signal> signal_ =
      std::make_shared<boost::asio::cancellation_signal>();
};

/// Another client, which may do everything. It is destroyed at the end of the order.
class OtherClient {
 public:
  explicit OtherClient(OrderScene& scene, const std::string& name = "other")
      : scene_{scene}, client_{scene.world.client(name)} {}
  OtherClient(const OtherClient&) = delete;
  OtherClient& operator=(const OtherClient&) = delete;
  ~OtherClient() {
    if (!scene_.world.end(client_)) scene_.complain("something keeps the other client alive");
  }

  Client& operator*() const { return *client_; }
  Client* operator->() const { return client_.get(); }

 private:
  OrderScene& scene_;
  std::unique_ptr<Client> client_;
};

}  // namespace custodian::tests
