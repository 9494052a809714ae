#pragma once

/// \file
/// ServiceDiscovery registers instances of services below a path, and finds those that others have
/// registered. It is Apache Curator's class of this name, and compatible with it on the wire: its
/// nodes hold the JSON of Curator's `JsonInstanceSerializer`.
///
///     custodian::ServiceDiscovery discovery{client, "/services"};
///     const auto registered = discovery.register_service({.name = "printer", .port = 631});
///     custodian::ServiceProvider printers{discovery, "printer"};
///     print(printers.wait_any()->uri());
///
/// When not to use it: to elect one of several processes (LeaderLatch); to find out whether a
/// process works, since a registered instance only proves that its session lives; for services that
/// DNS or an orchestrator already finds.
///
/// Each call of names() and instances() asks the servers. A ServiceProvider keeps a copy, so that
/// its calls send no request.
///
/// Threads: any. Lifetimes: the client may be destroyed first; later calls then fail (closed).

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/client.hpp"
#include "custodian/discovery/discovery_options.hpp"
#include "custodian/discovery/registration.hpp"
#include "custodian/discovery/service_instance.hpp"
#include "custodian/export.hpp"
#include "custodian/operation_options.hpp"

namespace custodian {

namespace discovery_detail {

using DiscoverySpecPtr = std::shared_ptr<const DiscoverySpec>;

CUSTODIAN_EXPORT void start_register(CorePtr core, CancellationPtr cancellation,
                                     Registration registration, OperationOptions options,
                                     Handler<Registration> handler);
CUSTODIAN_EXPORT void start_names(CorePtr core, CancellationPtr cancellation, DiscoverySpecPtr spec,
                                  OperationOptions options,
                                  Handler<std::vector<std::string>> handler);
CUSTODIAN_EXPORT void start_instances(CorePtr core, CancellationPtr cancellation,
                                      DiscoverySpecPtr spec, std::string name,
                                      OperationOptions options,
                                      Handler<std::vector<ServiceInstance>> handler);
/// The path of a service. Throws Error (invalid_argument) if its name cannot be a node's.
[[nodiscard]] CUSTODIAN_EXPORT std::string path_of_service(const DiscoverySpec& spec,
                                                           std::string_view operation,
                                                           std::string_view name);

}  // namespace discovery_detail

/// Registers instances of services, and finds those of others.
/// \copydetails custodian/discovery/service_discovery.hpp
class CUSTODIAN_EXPORT ServiceDiscovery {
 public:
  /// `base` is the path below which each service has a node. Contacts no server. Throws Error
  /// (invalid_argument) if it is not a valid path.
  ServiceDiscovery(const Client& client, std::string base, DiscoveryOptions options = {});

  /// The path below which each service has a node.
  [[nodiscard]] const std::string& base() const noexcept;
  /// For ServiceProvider.
  [[nodiscard]] const discovery_detail::DiscoverySpecPtr& spec() const noexcept { return spec_; }

  /// Registers an instance, and waits until its node exists. If a node of this name and id exists
  /// already, it counts as that of an earlier life of this process, and is taken over: watchers see
  /// no gap.
  /// Completes with: error, the registration (an empty one with an error: the instance is then
  /// unregistered in the background).
  /// Cancellation: total.
  /// Errors: those of PersistentNode::async_wait_present(). Throws Error at once: invalid_argument
  /// (the name or the id cannot be a node's, what encode_instance() refuses, data that are too
  /// large, or an instance of this name and id is registered by this client), closed, forked.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_register_service(ServiceInstance instance, OperationOptions options,
                              Token&& token) const {
    return initiate<void(error_code, Registration), &discovery_detail::start_register>(
        core_, std::forward<Token>(token), Registration{*spec_, std::move(instance)}, options);
  }
  /// async_register_service() with default options.
  template <typename Token>
  auto async_register_service(ServiceInstance instance, Token&& token) const {
    return async_register_service(std::move(instance), OperationOptions{},
                                  std::forward<Token>(token));
  }
  /// The blocking form of async_register_service(). Throws Error.
  [[nodiscard]] Registration register_service(ServiceInstance instance,
                                              OperationOptions options = {}) const;

  /// Lists the names of the services, in order, also of services that have no instance any more.
  /// The list is at least as new as the call.
  /// Completes with: error, the names; none if the base does not exist.
  /// Cancellation: total.
  /// Errors: no_auth, and those common to all operations.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_names(OperationOptions options, Token&& token) const {
    return initiate<void(error_code, std::vector<std::string>), &discovery_detail::start_names>(
        core_, std::forward<Token>(token), spec_, options);
  }
  /// async_names() with default options.
  template <typename Token>
  auto async_names(Token&& token) const {
    return async_names(OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form of async_names(). Throws Error.
  [[nodiscard]] std::vector<std::string> names(OperationOptions options = {}) const;

  /// Reads the instances of a service, in the order of their ids, disabled ones, too. They are at
  /// least as new as the call. A node that cannot be decoded, or read, is left out, and logged
  /// (`LogLevel::warning`).
  /// Completes with: error, the instances; none if the service does not exist.
  /// Cancellation: total.
  /// Errors: no_auth (of the service's node), and those common to all operations. Throws Error at
  /// once: invalid_argument (the name cannot be a node's).
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_instances(std::string name, OperationOptions options, Token&& token) const {
    static_cast<void>(discovery_detail::path_of_service(*spec_, "async_instances", name));
    return initiate<void(error_code, std::vector<ServiceInstance>),
                    &discovery_detail::start_instances>(core_, std::forward<Token>(token), spec_,
                                                        std::move(name), options);
  }
  /// async_instances() with default options.
  template <typename Token>
  auto async_instances(std::string name, Token&& token) const {
    return async_instances(std::move(name), OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form of async_instances(). Throws Error.
  [[nodiscard]] std::vector<ServiceInstance> instances(std::string name,
                                                       OperationOptions options = {}) const;

 private:
  CorePtr core_;
  discovery_detail::DiscoverySpecPtr spec_;
};

}  // namespace custodian
