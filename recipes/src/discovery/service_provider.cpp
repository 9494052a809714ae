#include "custodian/discovery/service_provider.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>

#include "custodian/authoring/bound_to_context.hpp"
#include "custodian/authoring/spawn.hpp"
#include "discovery_spec.hpp"
#include "watched_service.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace discovery_detail {

namespace {

using Found = std::optional<ServiceInstance>;

Found copy_of(const InstancePtr& instance) { return instance ? Found{*instance} : Found{}; }

asio::awaitable<Result<Found>> wait_any(WatchedServicePtr service, CancellationPtr cancellation,
                                        Deadline until) {
  for (;;) {
    if (const InstancePtr found = service->get()) co_return Found{*found};
    if (const error_code ended = service->ended()) co_return ended;
    if (cancellation && cancellation->requested()) {
      co_return make_error_code(asio::error::operation_aborted);
    }
    if (until.passed()) co_return Found{};
    co_await service->wait_for_change(until, cancellation);
  }
}

ServiceProviderOptions checked(ServiceProviderOptions options, const std::string& path) {
  const char* fault = nullptr;
  if (std::ranges::any_of(options.filters, [](const auto& each) { return !each; })) {
    fault = "a filter is empty";
  }
  if (options.down.errors == 0) fault = "an instance is down after one error at least";
  if (options.down.time <= std::chrono::milliseconds{0})
    fault = "an instance is down for some time";
  if (fault) throw Error{Errc::invalid_argument, "ServiceProvider", path, fault};
  return options;
}

}  // namespace

void start_wait_any(CorePtr core, CancellationPtr cancellation, WatchedServicePtr service,
                    Deadline until, Handler<Found> handler) {
  const std::string what = "waiting for an instance at " + service->path();
  Handler<Found> bound = bound_to_context(core, std::move(handler));
  spawn(core, what,
        wait_any(std::move(service), std::move(cancellation), until.or_default(Deadline::never())),
        std::move(bound));
}

}  // namespace discovery_detail

using discovery_detail::InstancePtr;

ServiceProvider::ServiceProvider(const ServiceDiscovery& discovery, std::string name,
                                 ServiceProviderOptions options)
    : core_{discovery.spec()->client.core()} {
  std::string path = discovery_detail::path_of_service(*discovery.spec(), "ServiceProvider", name);
  options = discovery_detail::checked(std::move(options), path);
  service_ = std::make_shared<discovery_detail::WatchedService>(
      discovery.spec()->client, std::move(path), std::move(options));
  service_->follow();
}

ServiceProvider& ServiceProvider::operator=(ServiceProvider&& other) noexcept {
  if (this == &other) return *this;
  if (service_) service_->close();
  core_ = std::move(other.core_);
  service_ = std::move(other.service_);
  return *this;
}

ServiceProvider::~ServiceProvider() {
  if (service_) service_->close();
}

std::optional<ServiceInstance> ServiceProvider::get() {
  return discovery_detail::copy_of(service_->get());
}

std::optional<ServiceInstance> ServiceProvider::get_for(std::string_view key) const {
  return discovery_detail::copy_of(service_->get_for(key));
}

std::vector<ServiceInstance> ServiceProvider::all() const {
  std::vector<ServiceInstance> result;
  for (const InstancePtr& each : service_->available()) result.push_back(*each);
  return result;
}

void ServiceProvider::note_error(const ServiceInstance& instance) {
  service_->note_error(instance.id);
}

MirrorState ServiceProvider::state() const { return service_->state(); }

std::vector<std::string> ServiceProvider::malformed() const { return service_->malformed(); }

std::optional<ServiceInstance> ServiceProvider::wait_any(Deadline until,
                                                         std::stop_token stop) const {
  using discovery_detail::start_wait_any;
  const auto ended = block_until<&start_wait_any, std::optional<ServiceInstance>>(
      core_, "wait_any", service_->path(), std::move(stop), until.or_default(Deadline::never()),
      service_, until);
  if (!ended) return std::nullopt;
  throw_if(*core_, std::get<error_code>(*ended), "wait_any", service_->path());
  return std::get<1>(*ended);
}

}  // namespace custodian
