#include "client/client_state.hpp"

#include <unistd.h>

#include <array>
#include <utility>

#include "base/connection_string.hpp"
#include "base/paths.hpp"
#include "base/process_id.hpp"
#include "client/client_core.hpp"
#include "session/sasl.hpp"
#include "session/tls.hpp"

namespace custodian::detail {

namespace asio = boost::asio;

namespace {

std::string default_identity() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::string{host.data()} + "/" + std::to_string(::getpid());
}

ClientOptions with_defaults(ClientOptions options) {
  options.name_space = absolute_namespace(options.name_space);
  if (options.identity.empty()) options.identity = default_identity();
  if (!options.session_factory) options.session_factory = &make_zookeeper_session;
  return options;
}

}  // namespace

Security security_of(const ClientOptions& options) {
  const bool secure = parse_connection_string("connect", options.servers).secure;
  return {.tls = options.tls || secure ? make_tls(options.tls.value_or(TlsOptions{})) : nullptr,
          .sasl = options.sasl ? make_sasl(*options.sasl) : nullptr};
}

ClientState::ClientState(const asio::any_io_executor& executor, asio::any_io_executor callback,
                         ClientOptions client_options, Security client_security,
                         std::shared_ptr<void> context)
    : keep_alive{std::move(context)},
      options{with_defaults(std::move(client_options))},
      chroot{parse_connection_string("connect", options.servers).chroot},
      process{process_id()},
      strand{asio::make_strand(executor)},
      callback_executor{std::move(callback)},
      callbacks{asio::make_strand(callback_executor)},
      own{std::make_unique<ClientCore>(*this, options.name_space)},
      observation{options.observer ? std::make_unique<Observation>(*own, options.observer)
                                   : nullptr},
      log_gate{options.log},
      boot_timers{std::make_shared<BootTimers>(strand, options.clock, callback_executor)},
      security{std::move(client_security)},
      sessions{*own, std::string{without_chroot(options.servers)},
               for_a_session(options.credentials)},
      timer{strand},
      deletes{*own},
      late_creates{*own},
      follower{options.follow_ensemble ? std::make_unique<EnsembleFollower>(*own) : nullptr} {}

ClientState::~ClientState() = default;

}  // namespace custodian::detail
