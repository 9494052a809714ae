#include "client/credential_source.hpp"

#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "client/argument_checks.hpp"
#include "client/client_core.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

std::vector<SessionSettings::Credential> for_a_session(
    const std::vector<ClientOptions::Credential>& credentials) {
  std::vector<SessionSettings::Credential> all;
  all.reserve(credentials.size());
  for (const auto& [scheme, value] : credentials) all.push_back({scheme, value});
  return all;
}

bool CredentialSource::exists() const noexcept {
  return static_cast<bool>(core_.options().credentials_provider);
}

bool CredentialSource::was_asked_lately() const noexcept {
  return asking_ || (asked_at_ && std::chrono::steady_clock::now() - *asked_at_ < least_interval);
}

void CredentialSource::ask(Handler handler) {
  handler_ = std::move(handler);
  if (std::exchange(asking_, true)) return;
  asked_at_ = std::chrono::steady_clock::now();
  asio::post(core_.callback_executor(), [this, weak = core_.weak_from_this()] {
    const auto core = weak.lock();
    if (!core || core->forked() || stopped_) return;
    asio::post(core->strand(), [this, weak, answer = call(core->options())]() mutable {
      if (const auto alive = weak.lock()) answered(std::move(answer));
    });
  });
}

CredentialSource::Answer CredentialSource::call(const ClientOptions& options) {
  try {
    const auto credentials = options.credentials_provider();
    check_credentials("credentials_provider", credentials, options.max_request_size);
    return {.credentials = for_a_session(credentials)};
  } catch (const std::exception& exception) {
    return {.failure = exception.what()};
  } catch (...) {
    return {.failure = "what it threw is no std::exception"};
  }
}

void CredentialSource::answered(Answer answer) {
  if (core_.forked()) return;
  asking_ = false;
  const bool failed = !answer.credentials;
  if (failed) {
    // If a provider fails again and again, only the first failure is logged as an error.
    core_.log(failed_ ? LogLevel::debug : LogLevel::error,
              "the credentials provider failed: " + answer.failure);
  }
  failed_ = failed;
  const Handler handler = std::exchange(handler_, nullptr);
  if (handler) handler(std::move(answer.credentials));
}

}  // namespace custodian::detail
