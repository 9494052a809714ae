#pragma once

/// \file
/// ClientWatcher is the state of one Watch: the event, or the waiter for it. Used on the strand
/// only, except for its construction.

#include <optional>

#include "client/client_core.hpp"
#include "custodian/watch.hpp"

namespace custodian::detail {

class ClientWatcher final : public Watcher, public std::enable_shared_from_this<ClientWatcher> {
 public:
  void on_event(error_code error, WatchEventType type) override;
  void wait(CancellationPtr cancellation, Handler<WatchEventType> handler);
  [[nodiscard]] bool over() const noexcept { return outcome_.has_value(); }
  [[nodiscard]] std::optional<WatchEventType> event() const noexcept {
    return outcome_ && !outcome_->error ? std::optional{outcome_->type} : std::nullopt;
  }
  /// The Watch is destroyed: ends the wait.
  void abandon();

 private:
  struct Outcome {
    error_code error;
    WatchEventType type = WatchEventType::deleted;
  };
  void finish(Outcome outcome);

  std::optional<Outcome> outcome_;
  Handler<WatchEventType> handler_;
  CancellationPtr cancellation_;
};

}  // namespace custodian::detail
