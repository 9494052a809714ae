#include "session/sasl.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "custodian/authoring/uuid.hpp"
#include "custodian/error.hpp"
#include "session/digest_md5.hpp"
#include "session/gssapi.hpp"
#include "text/one_line.hpp"

namespace custodian::detail {
namespace {

/// The name that all ZooKeeper servers have in DIGEST-MD5: it is built into them.
constexpr std::string_view server_of_digest = "zk-sasl-md5";

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= ' ' && each <= '~'; });
}

/// Counts a call that may block, for as long as this object lives.
class Call {
 public:
  explicit Call(std::atomic<int>& calls) : calls_{calls}, number_{++calls} {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { --calls_; }

  /// The number of this call among those under way, from 1.
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  std::atomic<int>& calls_;
  const int number_;
};

class SaslOfOptions final : public Sasl {
 public:
  explicit SaslOfOptions(SaslOptions options) : options_{std::move(options)} {}

  Begun begin(const Address& address) const override {
    try {
      const Call call{calls_};
      if (call.number() > most_calls) return failed("earlier calls have no answer yet");
      Begun begun;
      begun.client = make(address);
      return begun;
    } catch (const std::exception& error) {
      return failed(in_one_line(error.what()));  // the text may be the user's own
    } catch (...) {
      return failed("SaslOptions::password has thrown what is no std::exception");
    }
  }
  std::string preparation(const Address& address) const override {
    return is_kerberos() ? name() + ": a ticket for " + server_at(address)
                         : name() + ": SaslOptions::password";
  }

 private:
  /// Each call under way holds a thread. If a KDC is silent for minutes, further calls fail at
  /// once.
  static constexpr int most_calls = 4;

  [[nodiscard]] bool is_kerberos() const { return options_.mechanism == SaslMechanism::gssapi; }
  [[nodiscard]] std::string name() const {
    return is_kerberos() ? "SASL (GSSAPI)" : "SASL (DIGEST-MD5)";
  }
  [[nodiscard]] Begun failed(const std::string& reason) const {
    return {nullptr, name() + ": " + reason};
  }
  [[nodiscard]] std::string server_at(const Address& address) const {
    const std::string& given = options_.server_name;
    if (!is_kerberos()) {
      return options_.service + "/" + (given.empty() ? std::string{server_of_digest} : given);
    }
    std::string host = given;
    if (host.empty()) {
      host = address.names.empty() ? address.endpoint.address().to_string() : address.names.front();
    }
    if (host.ends_with('.')) host.pop_back();
    return options_.service + "@" + host;
  }
  [[nodiscard]] std::unique_ptr<SaslClient> make(const Address& address) const {
    const std::string server = server_at(address);
    if (is_kerberos()) {
      try {
        return std::make_unique<Gssapi>(options_, server);
      } catch (const SaslError& error) {
        throw SaslError{error.kind(), server + ": " + error.what()};
      }
    }
    std::string password = options_.password();
    if (!is_ascii(password)) {
      throw SaslError{SaslError::Kind::failed, "the password has characters beyond ASCII"};
    }
    return std::make_unique<DigestMd5>(
        DigestMd5Identity{options_.user, std::move(password), server}, make_uuid());
  }

  const SaslOptions options_;
  mutable std::atomic<int> calls_{0};
};

[[noreturn]] void refuse(const std::string& why) {
  throw Error{Errc::invalid_argument, "connect", "", "sasl." + why};
}

}  // namespace

std::shared_ptr<const Sasl> make_sasl(const SaslOptions& options) {
  if (options.service.empty() || options.service.find_first_of("/@") != std::string::npos) {
    refuse("service: \"" + options.service + "\" is no name of a service, such as \"zookeeper\"");
  }
  const bool digest = options.mechanism == SaslMechanism::digest_md5;
  if (digest && (options.user.empty() || !is_ascii(options.user))) {
    refuse("user: DIGEST-MD5 needs the name of a user, in ASCII");
  }
  if (digest && !options.password) refuse("password: DIGEST-MD5 needs a function that returns it");
  if (!digest && (!options.user.empty() || options.password)) {
    refuse("user and password are for DIGEST-MD5; GSSAPI takes a ticket");
  }
  const bool any = !options.credential_cache.empty() || !options.client_keytab.empty() ||
                   !options.principal.empty();
  if (digest && any) {
    refuse("credential_cache, client_keytab and principal are for GSSAPI; DIGEST-MD5 takes a user");
  }
  return std::make_shared<const SaslOfOptions>(options);
}

}  // namespace custodian::detail
