#pragma once

/// \file
/// *CredentialSource* asks a client's credentials provider: on the callback executor, where user
/// code runs, one call at a time, and not too often. Used on the strand only.

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "custodian/client_options.hpp"
#include "custodian/session/session.hpp"

namespace custodian::detail {

class ClientCore;

/// The credentials in a session's form.
[[nodiscard]] std::vector<SessionSettings::Credential> for_a_session(
    const std::vector<ClientOptions::Credential>& credentials);

class CredentialSource {
 public:
  using Credentials = std::vector<SessionSettings::Credential>;
  /// Called on the strand, with nothing if the provider has failed; the log has the reason then.
  using Handler = std::function<void(std::optional<Credentials>)>;
  /// The least time between the beginnings of two calls for an established session, and the pause
  /// after a failed call whose answer a session waits for.
  static constexpr std::chrono::seconds least_interval{1};

  explicit CredentialSource(ClientCore& core) : core_{core} {}

  /// Whether the client has a provider.
  [[nodiscard]] bool exists() const noexcept;
  /// Calls the provider; if a call is under way, waits for its answer instead. Of several handlers
  /// that wait for one answer, the newest is called.
  void ask(Handler handler);
  /// No call begins from now on; one may be under way.
  void stop() noexcept { stopped_ = true; }
  /// Whether a call is under way, or has begun less than an interval ago.
  [[nodiscard]] bool was_asked_lately() const noexcept;

 private:
  struct Answer {
    std::optional<Credentials> credentials{};
    std::string failure{};
  };

  /// Calls the provider. Runs on any thread.
  [[nodiscard]] static Answer call(const ClientOptions& options);
  void answered(Answer answer);

  ClientCore& core_;
  Handler handler_;
  std::atomic<bool> stopped_ = false;
  bool asking_ = false;
  bool failed_ = false;  ///< whether the newest call has failed
  std::optional<std::chrono::steady_clock::time_point> asked_at_;
};

}  // namespace custodian::detail
