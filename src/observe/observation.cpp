#include "observe/observation.hpp"

#include <exception>
#include <type_traits>
#include <utility>
#include <variant>

namespace custodian::detail {

Observation::Observation(ObservedClient& client, std::shared_ptr<Observer> observer)
    : client_{client}, observer_{std::move(observer)}, absence_{client.now()} {}

Observation::~Observation() = default;

template <typename Tell>
void Observation::post(Tell tell) {
  // Capturing `this` is safe: call_observer() keeps the client, which owns this object. An
  // exception of the observer is caught here, so that it does not end the thread that runs user
  // code.
  client_.call_observer([this, tell = std::move(tell)] {
    try {
      tell(*observer_);
    } catch (...) {
      on_thrown();
    }
  });
}

void Observation::on_thrown() {
  if (std::exchange(thrown_, true)) return;
  std::string what;
  try {
    throw;
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
    what = "something that is no std::exception";
  }
  client_.log(LogLevel::error, "the observer has thrown: " + what + "; this is said once");
}

// -- Locks ----------------------------------------------------------------------------------------

void Observation::tell_acquire_begun(const ObservedLockPtr& lock, BootClock::time_point since) {
  post([lock, since](Observer& observer) {
    observer.on_acquire_begun({.recipe = lock->recipe, .path = lock->path, .began = since});
  });
}

void Observation::tell_acquire_ended(const ObservedLockPtr& lock, AcquireOutcome outcome,
                                     const error_code& error, BootClock::time_point since,
                                     std::size_t leases) {
  post([lock, outcome, error, since, waited = client_.now() - since, leases](Observer& observer) {
    observer.on_acquire_ended({.recipe = lock->recipe,
                               .path = lock->path,
                               .outcome = outcome,
                               .error = error,
                               .waited = waited,
                               .leases = leases,
                               .began = since});
  });
}

void Observation::tell_lease_begun(const ObservedLockPtr& lock, FencingToken token) {
  post([lock, token](Observer& observer) {
    observer.on_lease_begun({.recipe = lock->recipe, .path = lock->path, .token = token});
  });
}

void Observation::tell_lease_lost(const ObservedLockPtr& lock, FencingToken token,
                                  LossReason reason, BootClock::time_point since) {
  post([lock, token, reason, held_for = client_.now() - since](Observer& observer) {
    observer.on_lease_lost({.recipe = lock->recipe,
                            .path = lock->path,
                            .token = token,
                            .reason = reason,
                            .held_for = held_for});
  });
}

void Observation::tell_lease_released(const ObservedLockPtr& lock, FencingToken token,
                                      LossReason loss, BootClock::time_point since) {
  post([lock, token, loss, held_for = client_.now() - since](Observer& observer) {
    observer.on_lease_released({.recipe = lock->recipe,
                                .path = lock->path,
                                .token = token,
                                .loss = loss,
                                .held_for = held_for});
  });
}

void Observation::tell_lock_reused(const ObservedLockPtr& lock, FencingToken token,
                                   std::uint64_t times) {
  post([lock, token, times](Observer& observer) {
    observer.on_lock_reused(
        {.recipe = lock->recipe, .path = lock->path, .token = token, .times = times});
  });
}

void Observation::tell_kept_lock_ended(const ObservedLockPtr& lock, FencingToken token,
                                       KeptLockEnd reason) {
  post([lock, token, reason](Observer& observer) {
    observer.on_kept_lock_ended(
        {.recipe = lock->recipe, .path = lock->path, .token = token, .reason = reason});
  });
}

// -- Waits and updates ----------------------------------------------------------------------------

void Observation::tell_wait_ended(const ObservedLockPtr& wait, WaitOutcome outcome,
                                  const error_code& error, BootClock::time_point since) {
  post([wait, outcome, error, waited = client_.now() - since](Observer& observer) {
    observer.on_wait_ended({.recipe = wait->recipe,
                            .path = wait->path,
                            .outcome = outcome,
                            .error = error,
                            .waited = waited});
  });
}

void Observation::tell_update_ended(const ObservedLockPtr& value, UpdateFacts facts,
                                    BootClock::time_point since) {
  post([value, facts, lasted = client_.now() - since](Observer& observer) {
    observer.on_update_ended({.recipe = value->recipe,
                              .path = value->path,
                              .error = facts.error,
                              .written = facts.written,
                              .tries = facts.tries,
                              .promoted = facts.promoted,
                              .lasted = lasted});
  });
}

// -- The client itself ----------------------------------------------------------------------------

namespace {

struct OperationName {
  std::string_view operator()(const request::Create&) const { return "create"; }
  std::string_view operator()(const request::Remove&) const { return "remove"; }
  std::string_view operator()(const request::Exists&) const { return "exists"; }
  std::string_view operator()(const request::Get&) const { return "get"; }
  std::string_view operator()(const request::Set&) const { return "set"; }
  std::string_view operator()(const request::GetChildren&) const { return "children"; }
  std::string_view operator()(const request::GetAcl&) const { return "get_acl"; }
  std::string_view operator()(const request::SetAcl&) const { return "set_acl"; }
  std::string_view operator()(const request::Sync&) const { return "sync"; }
  std::string_view operator()(const request::Multi&) const { return "commit"; }
};

std::string_view path_of(const Request& request) {
  return std::visit(
      [](const auto& each) -> std::string_view {
        if constexpr (requires { each.path; }) return each.path;
        return {};
      },
      request);
}

}  // namespace

void Observation::tell_retried(std::string_view operation, std::string_view full_path,
                               const error_code& error, int attempts,
                               std::chrono::milliseconds pause) {
  std::string path;
  if (!full_path.empty()) path = client_.user_path(full_path);
  post([operation, path = std::move(path), error, attempts, pause](Observer& observer) {
    observer.on_operation_retried({.operation = operation,
                                   .path = path,
                                   .error = error,
                                   .attempts = attempts,
                                   .pause = pause});
  });
}

void Observation::tell_retried(const Request& request, const error_code& error, int attempts,
                               std::chrono::milliseconds pause) {
  tell_retried(std::visit(OperationName{}, request), path_of(request), error, attempts, pause);
}

void Observation::tell_connection_changed(ConnectionState state) {
  const auto away = absence_.on_state(state, client_.now());
  post([state, away](Observer& observer) {
    observer.on_connection_changed({.state = state, .away = away});
  });
}

}  // namespace custodian::detail
