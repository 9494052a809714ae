#include "custodian/discovery/service_discovery.hpp"

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "async/started_operation.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/operations.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/authoring/spawn.hpp"
#include "discovery_spec.hpp"

namespace custodian {

namespace discovery_detail {

namespace asio = boost::asio;

using recipes_detail::StartedOperation;

// The arguments of a co_await are named objects or trivial: see await() in authoring/bridge.hpp.

std::string path_of_service(const DiscoverySpec& spec, std::string_view operation,
                            std::string_view name) {
  if (name.empty() || name.find('/') != std::string_view::npos) {
    throw Error{Errc::invalid_argument, operation, spec.base,
                "the name of a service is empty, or has a slash"};
  }
  std::string path = join(spec.base, name);
  check_path(spec.client.core(), operation, path);
  return path;
}

namespace {

/// How many nodes are read at once, so that a service with many instances does not fill the
/// connection.
constexpr std::size_t reads_at_once = 256;

/// Lists the children of a path after a sync, since a server that lags behind would list less.
asio::awaitable<Result<Children>> list(CorePtr core, CancellationPtr cancellation, std::string path,
                                       OperationOptions options) {
  const auto [unsynced] = co_await await<&start_sync>(core, cancellation, path, options);
  if (unsynced) co_return unsynced;
  auto [error, children] =
      co_await await<&start_children, Children>(core, cancellation, path, options);
  if (error == ServerErrc::no_node) co_return Children{};
  if (error) co_return error;
  std::ranges::sort(children.names);
  co_return std::move(children);
}

asio::awaitable<Result<std::vector<std::string>>> list_names(DiscoverySpecPtr spec,
                                                             CancellationPtr cancellation,
                                                             OperationOptions options) {
  Result<Children> found = co_await list(spec->client.core(), cancellation, spec->base, options);
  if (!found) co_return found.error();
  co_return std::move(found->names);
}

/// Adds the instance of a node, or logs why there is none.
void add(std::vector<ServiceInstance>& instances, const DiscoverySpec& spec,
         const std::string& path, const error_code& error, const GetResult& read) {
  DecodedInstance decoded = error ? DecodedInstance{} : decode_instance(read.data);
  if (decoded.instance) return instances.push_back(std::move(*decoded.instance));
  spec.client.log(LogLevel::warning,
                  path + " is left out: " + (error ? error.message() : std::move(decoded.fault)));
}

asio::awaitable<Result<std::vector<ServiceInstance>>> read_instances(DiscoverySpecPtr spec,
                                                                     CancellationPtr cancellation,
                                                                     std::string service,
                                                                     OperationOptions options) {
  const CorePtr core = spec->client.core();
  Result<Children> found = co_await list(core, cancellation, service, options);
  if (!found) co_return found.error();
  const std::vector<std::string> names = std::move(found->names);
  std::vector<ServiceInstance> instances;
  for (std::size_t begin = 0; begin < names.size(); begin += reads_at_once) {
    const std::size_t end = std::min(names.size(), begin + reads_at_once);
    std::vector<StartedOperation<GetResult>> reads;
    for (std::size_t i = begin; i != end; ++i) {
      reads.push_back(StartedOperation<GetResult>::start<&start_get>(
          spec->client.get_executor(), core, cancellation, join(service, names[i]), options));
    }
    error_code failure;
    for (std::size_t i = begin; i != end; ++i) {
      auto [error, read] = co_await reads[i - begin].get();
      if (error == ServerErrc::no_node) continue;  // unregistered meanwhile
      if (error && error != ServerErrc::no_auth) {
        failure = error;
        continue;
      }
      add(instances, *spec, join(service, names[i]), error, read);
    }
    if (failure) co_return failure;
  }
  std::ranges::sort(instances, {}, &ServiceInstance::id);
  co_return std::move(instances);
}

/// Starts PersistentNode::async_wait_present() for await(), and forwards the cancellation to it.
void start_wait_present(const CorePtr&, CancellationPtr cancellation, asio::any_io_executor strand,
                        std::shared_ptr<Registration> waiting, OperationOptions options,
                        Handler<> handler) {
  const auto signal = std::make_shared<asio::cancellation_signal>();
  if (cancellation) {
    if (cancellation->requested()) return std::move(handler)(asio::error::operation_aborted);
    cancellation->on_request(signal.get(),
                             [signal] { signal->emit(asio::cancellation_type::total); });
  }
  const Registration& registration = *waiting;
  registration.async_wait_registered(
      options, asio::bind_cancellation_slot(
                   signal->slot(),
                   asio::bind_executor(std::move(strand),
                                       [signal, cancellation, waiting = std::move(waiting),
                                        handler = std::move(handler)](error_code error) mutable {
                                         if (cancellation) cancellation->forget(signal.get());
                                         std::move(handler)(error);
                                       })));
}

asio::awaitable<Result<Registration>> wait_registered(CorePtr core, CancellationPtr cancellation,
                                                      std::shared_ptr<Registration> waiting,
                                                      OperationOptions options) {
  const asio::any_io_executor strand = co_await asio::this_coro::executor;
  const auto [error] =
      co_await await<&start_wait_present>(core, cancellation, strand, waiting, options);
  if (error) co_return error;
  co_return std::move(*waiting);
}

}  // namespace

void start_register(CorePtr core, CancellationPtr cancellation, Registration registration,
                    OperationOptions options, Handler<Registration> handler) {
  const std::string what = "registering " + registration.instance().name;
  // If no caller gets the registration, its destructor unregisters the instance.
  auto waiting = std::make_shared<Registration>(std::move(registration));
  spawn(core, what, wait_registered(core, std::move(cancellation), std::move(waiting), options),
        std::move(handler));
}

void start_names(CorePtr core, CancellationPtr cancellation, DiscoverySpecPtr spec,
                 OperationOptions options, Handler<std::vector<std::string>> handler) {
  options.deadline = spec->client.deadline_or_default(options.deadline);
  const std::string what = "listing the services at " + spec->base;
  spawn(core, what, list_names(std::move(spec), std::move(cancellation), options),
        std::move(handler));
}

void start_instances(CorePtr core, CancellationPtr cancellation, DiscoverySpecPtr spec,
                     std::string name, OperationOptions options,
                     Handler<std::vector<ServiceInstance>> handler) {
  options.deadline = spec->client.deadline_or_default(options.deadline);
  const std::string path = join(spec->base, name);
  spawn(core, "reading the instances at " + path,
        read_instances(std::move(spec), std::move(cancellation), path, options),
        std::move(handler));
}

}  // namespace discovery_detail

using discovery_detail::DiscoverySpec;

ServiceDiscovery::ServiceDiscovery(const Client& client, std::string base, DiscoveryOptions options)
    : core_{client.core()} {
  check_path(core_, "ServiceDiscovery", base);
  spec_ = std::make_shared<const DiscoverySpec>(
      DiscoverySpec{client.share(), std::move(base), std::move(options)});
}

const std::string& ServiceDiscovery::base() const noexcept { return spec_->base; }

Registration ServiceDiscovery::register_service(ServiceInstance instance,
                                                OperationOptions options) const {
  Registration registration{*spec_, std::move(instance)};
  const std::string path = join(spec_->base, registration.instance().name);
  return block_in_time_or_throw<&discovery_detail::start_register, Registration>(
      core_, "register_service", path, {}, {options.deadline}, std::move(registration), options);
}

std::vector<std::string> ServiceDiscovery::names(OperationOptions options) const {
  return block_in_time_or_throw<&discovery_detail::start_names, std::vector<std::string>>(
      core_, "names", spec_->base, {}, {options.deadline}, spec_, options);
}

std::vector<ServiceInstance> ServiceDiscovery::instances(std::string name,
                                                         OperationOptions options) const {
  const std::string path = discovery_detail::path_of_service(*spec_, "instances", name);
  return block_in_time_or_throw<&discovery_detail::start_instances, std::vector<ServiceInstance>>(
      core_, "instances", path, {}, {options.deadline}, spec_, std::move(name), options);
}

}  // namespace custodian
