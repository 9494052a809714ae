#include "session/tls.hpp"

#include <utility>

#include "session/renewal.hpp"
#include "session/server_identity.hpp"
#include "session/tls_context.hpp"
#include "session/tls_stream.hpp"

namespace custodian::detail {
namespace {

class OpenSslTls final : public Tls {
 public:
  explicit OpenSslTls(const TlsOptions& options)
      : options_{options},
        renewal_{states_of(files_of(options))},
        context_{make_ssl_context(options)} {}

  std::unique_ptr<ServerStream> stream(
      TcpStream server, const Address& address,
      const std::function<void(LogLevel, std::string)>& log) override {
    FileStates states = states_of(files_of(options_));
    if (renewal_.is_due(states, std::chrono::steady_clock::now())) renew(std::move(states), log);
    return std::make_unique<TlsStream>(context_, std::move(server),
                                       ServerIdentity{options_, address});
  }

 private:
  void renew(FileStates states, const std::function<void(LogLevel, std::string)>& log) {
    std::string reason;
    try {
      context_ = make_ssl_context(options_);
      renewal_.succeeded(std::move(states));
      return log(LogLevel::info, "the files of tls have changed, and were read again");
    } catch (const std::exception& error) {
      reason = error.what();
    } catch (...) {
      reason = "a function of the options has thrown what is no std::exception";
    }
    const std::string line =
        "the files of tls have changed, but cannot be used; the earlier ones stay in use: " +
        reason;
    const bool is_news =
        renewal_.failed(std::move(states), reason, std::chrono::steady_clock::now());
    log(is_news ? LogLevel::warning : LogLevel::debug, line);
  }

  const TlsOptions options_;
  Renewal renewal_;
  std::shared_ptr<SslContext> context_;
};

}  // namespace

std::shared_ptr<Tls> make_tls(const TlsOptions& options) {
  return std::make_shared<OpenSslTls>(options);
}

}  // namespace custodian::detail
