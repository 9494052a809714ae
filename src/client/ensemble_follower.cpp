#include "client/ensemble_follower.hpp"

#include <utility>

#include "client/client_core.hpp"
#include "client/operation.hpp"
#include "text/in_hex.hpp"

namespace custodian::detail {

namespace {

/// The node in which every ensemble since 3.5 publishes its configuration, outside of all chroots.
constexpr const char* config_path = "/zookeeper/config";

std::string list_of(const std::vector<HostPort>& servers) {
  std::string text;
  for (const HostPort& each : servers) text.append(text.empty() ? "" : ",").append(to_string(each));
  return text.empty() ? "none" : text;
}

}  // namespace

class EnsembleFollower::ConfigWatcher final : public Watcher {
 public:
  ConfigWatcher(std::weak_ptr<ClientCore> core, EnsembleFollower& follower)
      : core_{std::move(core)}, follower_{follower} {}

  void on_event(error_code error, WatchEventType) override {
    // Using `follower_` is safe: the follower lives as long as the core.
    if (const auto core = core_.lock()) follower_.on_event(*this, error);
  }

 private:
  const std::weak_ptr<ClientCore> core_;
  EnsembleFollower& follower_;
};

EnsembleFollower::EnsembleFollower(ClientCore& core) : core_{core}, timer_{core.strand()} {}

void EnsembleFollower::on_connected() {
  // The session restores an armed watch, and a read that is under way goes on by itself.
  if (!reading_ && !watcher_) read();
}

void EnsembleFollower::stop() { timer_.cancel(); }

void EnsembleFollower::read() {
  if (core_.closed()) return;
  timer_.cancel();
  reading_ = true;
  const CorePtr core = core_.shared_from_this();
  watcher_ = std::make_shared<ConfigWatcher>(core, *this);
  perform(core, request::Get{config_path, watcher_},
          make_plan(core_, {}, std::nullopt, Repeat::always), nullptr,
          [this, weak = std::weak_ptr{core}](const Reply& reply) {
            if (const auto alive = weak.lock()) on_reply(reply);
          });
}

void EnsembleFollower::read_after_pause() {
  timer_.expires_after(pause_after_failure);
  timer_.async_wait([this, weak = core_.weak_from_this()](error_code error) {
    const auto core = weak.lock();
    if (core && !error) on_connected();
  });
}

void EnsembleFollower::on_reply(const Reply& reply) {
  reading_ = false;
  if (core_.closed()) return;
  if (!reply.error) return take_up(reply.data);
  watcher_.reset();
  if (reply.error == ServerErrc::no_node || reply.error == ServerErrc::no_auth) {
    // on_connected() reads again: the next connection may be to a server that is configured
    // otherwise.
    return log_once("cannot read " + std::string{config_path} +
                    ", so the ensemble is not followed: " + reply.error.message());
  }
  if (core_.connected()) read_after_pause();
}

void EnsembleFollower::on_event(const ConfigWatcher& watcher, error_code error) {
  if (watcher_.get() != &watcher) return;
  watcher_.reset();
  // The end of a session ends the watch, too: on_connected() reads again in the next session.
  if (!error && !reading_) read();
}

void EnsembleFollower::take_up(const std::string& text) {
  const auto config = parse_ensemble_config(text);
  if (!config) {
    return log_once(text.empty() ? "the server stands alone and publishes no ensemble to follow"
                                 : "what " + std::string{config_path} +
                                       " says is not understood, so the ensemble is not followed");
  }
  // An older configuration is ignored: the answer may come from a server that lags behind.
  if (version_ && config->version <= *version_) return;
  version_ = config->version;
  const auto members = servers_of(*config, client_side());
  core_.log(LogLevel::info, "following the ensemble (configuration " +
                                in_hex(static_cast<std::int64_t>(config->version)) +
                                "): its servers are " + list_of(members));
  if (members.empty()) {
    log_once(
        "the ensemble's configuration names no server for this client: its port is missing "
        "(ClientOptions::member_port)");
  }
  core_.sessions().set_members(members);
}

ClientSide EnsembleFollower::client_side() const {
  const ClientOptions& options = core_.options();
  const std::vector<HostPort> given = core_.sessions().given();
  return {.tls = core_.tls() != nullptr,
          .port = options.member_port ? options.member_port : common_port(given),
          .local = are_local(given)};
}

void EnsembleFollower::log_once(std::string line) {
  if (line == last_line_) return;
  core_.log(LogLevel::warning, line);
  last_line_ = std::move(line);
}

}  // namespace custodian::detail
