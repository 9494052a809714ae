#pragma once

/// \file
/// OperationPlay is one operation of a recipe by the client "observed", with faults at its requests
/// or a cancellation, and the checks that must hold in every case.

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scripted/cancel_moment.hpp"
#include "scripted/world.hpp"

namespace custodian::tests {

/// What disturbs a play.
struct Disturbance {
  Faults faults{};
  std::optional<std::pair<CancelMoment, std::size_t>> cancel{};

  /// Whether a fault leaves the outcome of the request unknown.
  [[nodiscard]] bool hides_an_outcome() const;
};
[[nodiscard]] std::string describe(const Disturbance& disturbance);

struct PlayVerdict {
  std::string violation{};  ///< empty if all is well
  std::size_t steps = 0;    ///< requests of the observed client
};

class OperationPlay {
 public:
  explicit OperationPlay(const Disturbance& disturbance);
  OperationPlay(const OperationPlay&) = delete;
  OperationPlay& operator=(const OperationPlay&) = delete;
  virtual ~OperationPlay() = default;

  PlayVerdict run();

 protected:
  /// Called before the faults begin, to make the nodes that the operation finds.
  virtual void prepare() {}
  /// Starts the operation with done().
  virtual void begin() = 0;
  /// Called while the operation is under way, to act for other clients.
  virtual void meanwhile() {}
  /// Called at each request of the operation. Must post its actions.
  virtual void on_request(std::size_t) {}
  /// Checks what must hold at the end of an operation that was not cancelled.
  virtual void judge(error_code error, std::int64_t result) = 0;
  /// Checks what must hold in the end, also after a cancellation, when nothing is under way any
  /// more.
  virtual void judge_servers() {}
  /// The number of watches that the operation has left on the servers.
  [[nodiscard]] virtual std::size_t watches_left() { return world_.ensemble.watches(); }
  /// Destroys the recipe's objects.
  virtual void forget() = 0;

  /// The handler of the operation, with the cancellation slot; also for an operation without a
  /// result.
  [[nodiscard]] auto done() {
    return boost::asio::bind_cancellation_slot(
        signal_.slot(), [ended = outcome_.handler()](error_code error, std::int64_t result = 1) {
          ended(error, result);
        });
  }
  [[nodiscard]] bool arrived() const { return outcome_.arrived(); }
  void complain(const std::string& what);
  [[nodiscard]] bool exists(const std::string& path) { return world_.ensemble.exists(path); }
  /// Complains of the error, unless it is `outcome_unknown`, and a fault may have hidden an
  /// outcome.
  void judge_unknown(error_code error);

  const Disturbance disturbance_;
  World world_;
  std::unique_ptr<Client> client_;

 private:
  void disturb();
  void leave_nothing();
  [[nodiscard]] bool due(CancelMoment moment, std::size_t step) const;

  const std::shared_ptr<FaultsAt> plan_;
  boost::asio::cancellation_signal signal_;
  Outcome<std::int64_t> outcome_;
  PlayVerdict verdict_;
};

/// Plays a case with one disturbance.
using Played = std::function<PlayVerdict(const Disturbance&)>;

/// Plays the case without a fault, and then with every fault at each request. Returns the number of
/// requests without a fault.
std::size_t play_every_fault(const std::string& name, const Played& play);
/// Plays the case with each fault at each request, and another fault at one of the next two
/// requests.
void play_every_pair(const std::string& name, const Played& play);
/// Plays the case with a cancellation at each moment, without a fault and together with every
/// fault.
void play_every_cancellation(const std::string& name, const Played& play);

}  // namespace custodian::tests
