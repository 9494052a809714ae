#include "session/tls.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include "session/server_identity.hpp"
#include "session/tls_context.hpp"
#include "session/tls_link.hpp"

namespace custodian::detail {
namespace {

using Times = std::map<std::string, std::filesystem::file_time_type>;

/// When each file was changed; a file that is gone counts as changed once.
Times times_of(const TlsOptions& options) {
  Times times;
  for (const std::string& file : files_of(options)) {
    std::error_code gone;
    times[file] = std::filesystem::last_write_time(file, gone);
  }
  return times;
}

class OpenSslTls final : public Tls {
 public:
  explicit OpenSslTls(const TlsOptions& options)
      : options_{options}, times_{times_of(options)}, context_{make_ssl_context(options)} {}

  std::shared_ptr<SecureLink> link(TcpStream server, const Address& address,
                                   const std::function<void(LogLevel, std::string)>& log) override {
    if (Times now = times_of(options_); now != times_) {
      times_ = std::move(now);
      renew(log);
    }
    return std::make_shared<TlsLink>(context_, std::move(server),
                                     ServerIdentity{options_, address});
  }

 private:
  void renew(const std::function<void(LogLevel, std::string)>& log) {
    try {
      context_ = make_ssl_context(options_);
      log(LogLevel::info, "the files of tls have changed, and were read again");
    } catch (const std::exception& error) {
      log(LogLevel::warning,
          "the files of tls have changed, but cannot be used; the earlier ones "
          "stay in use: " +
              std::string{error.what()});
    } catch (...) {
      log(LogLevel::warning,
          "the files of tls have changed, but cannot be used; the earlier ones stay in use");
    }
  }

  const TlsOptions options_;
  Times times_;
  std::shared_ptr<SslContext> context_;
};

}  // namespace

std::shared_ptr<Tls> make_tls(const TlsOptions& options) {
  return std::make_shared<OpenSslTls>(options);
}

}  // namespace custodian::detail
