#pragma once

/// \file
/// *CredentialSource* asks a client's credentials provider: on the callback executor, where user
/// code runs, one call at a time, and not too often. Strand only.

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
  /// Called on the strand. Nothing: the provider has failed, and the log has the reason.
  using Handler = std::function<void(std::optional<Credentials>)>;
  /// Between the beginnings of two calls for a session that stands, and after a call that failed
  /// where a session waits for its answer.
  static constexpr std::chrono::seconds least_interval{1};

  explicit CredentialSource(ClientCore& core) : core_{core} {}

  /// Whether the client has a provider.
  [[nodiscard]] bool exists() const noexcept;
  /// Asks; if a call is under way, its answer will do. Of several handlers that wait for one
  /// answer, the newest is called.
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

  /// Calls the provider. Any thread.
  [[nodiscard]] static Answer call(const ClientOptions& options);
  void answered(Answer answer);

  ClientCore& core_;
  Handler handler_;
  std::atomic<bool> stopped_ = false;
  bool asking_ = false;
  bool failed_ = false;  ///< the newest answer
  std::optional<std::chrono::steady_clock::time_point> asked_at_;
};

}  // namespace custodian::detail
