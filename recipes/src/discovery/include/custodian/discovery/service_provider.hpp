#pragma once

/// \file
/// ServiceProvider knows the instances of a service, and chooses one of them. It is Apache
/// Curator's class of this name.
///
/// The provider keeps a copy of the service's nodes, which follows every change (a
/// PathChildrenCache): its calls send no request. It begins to read in the background when it is
/// constructed. While the connection is interrupted, and until a lost session is replaced, it
/// returns the instances that it knew last.
///
/// If a node replaces another one, as that of a restarted process does, the instance is never
/// missing: see Mirror.
///
/// An instance is available if it is enabled, every filter of the options accepts it, and it is not
/// down: an instance is down when its users have noted too many errors (note_error(), DownPolicy).
/// A node that cannot be decoded, or read, is no instance: it is logged, once for each change of it
/// (`LogLevel::warning`), and listed by malformed().
///
/// When not to use it: to look once (ServiceDiscovery::instances()).
///
/// Threads: any. Lifetimes: the client may be destroyed first: waits then fail (closed), and the
/// last instances stay known. Destroying the provider ends its waits with operation_aborted.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "custodian/authoring/bridge.hpp"
#include "custodian/deadline.hpp"
#include "custodian/discovery/provider_options.hpp"
#include "custodian/discovery/service_discovery.hpp"
#include "custodian/discovery/service_instance.hpp"
#include "custodian/export.hpp"
#include "custodian/mirror/mirror_options.hpp"

namespace custodian {

namespace discovery_detail {

class WatchedService;
using WatchedServicePtr = std::shared_ptr<WatchedService>;

CUSTODIAN_EXPORT void start_wait_any(CorePtr core, CancellationPtr cancellation,
                                     WatchedServicePtr service, Deadline until,
                                     Handler<std::optional<ServiceInstance>> handler);

}  // namespace discovery_detail

/// Knows the instances of a service, and chooses one of them.
/// \copydetails custodian/discovery/service_provider.hpp
class CUSTODIAN_EXPORT ServiceProvider {
 public:
  /// Begins to follow the service of this name, which need not exist. Throws Error
  /// (invalid_argument) if the name cannot be a node's, a filter is empty, or the DownPolicy is
  /// wrong.
  ServiceProvider(const ServiceDiscovery& discovery, std::string name,
                  ServiceProviderOptions options = {});
  /// A moved-from provider may only be destroyed, or assigned to.
  ServiceProvider(ServiceProvider&&) noexcept = default;
  /// Ends the provider that this object was before.
  ServiceProvider& operator=(ServiceProvider&& other) noexcept;
  ~ServiceProvider();

  /// One of the available instances, by the strategy of the options; nothing if none is available.
  [[nodiscard]] std::optional<ServiceInstance> get();
  /// The available instance for this key, by rendezvous hashing: all providers that know the same
  /// instances return the same one, and when an instance comes or goes, only its own keys move.
  /// Nothing if no instance is available.
  [[nodiscard]] std::optional<ServiceInstance> get_for(std::string_view key) const;
  /// All available instances, in the order of their ids.
  [[nodiscard]] std::vector<ServiceInstance> all() const;

  /// Notes that an instance has failed: see DownPolicy. An instance is known by its id.
  void note_error(const ServiceInstance& instance);

  /// Whether the provider knows the present instances: `synced`, or why not. See MirrorState.
  [[nodiscard]] MirrorState state() const;
  /// The paths of the nodes that are no instances, because they cannot be decoded or read.
  [[nodiscard]] std::vector<std::string> malformed() const;

  /// Waits until an instance is available, or until the deadline; the default deadline never
  /// passes.
  /// Completes with: error, the instance, as get() gives it; nothing if the deadline passed.
  /// Cancellation: total.
  /// Errors: those of Mirror::async_wait_synced().
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_wait_any(Deadline until, Token&& token) const {
    return initiate<void(error_code, std::optional<ServiceInstance>),
                    &discovery_detail::start_wait_any>(core_, std::forward<Token>(token), service_,
                                                       until);
  }
  /// async_wait_any() without a limit.
  template <typename Token>
  auto async_wait_any(Token&& token) const {
    return async_wait_any(Deadline{}, std::forward<Token>(token));
  }
  /// The blocking form of async_wait_any(). Throws Error; `stop` ends it with operation_aborted. If
  /// no thread runs the client's context, it returns nothing, a tenth of a second after the
  /// deadline.
  [[nodiscard]] std::optional<ServiceInstance> wait_any(Deadline until = {},
                                                        std::stop_token stop = {}) const;

 private:
  CorePtr core_;
  discovery_detail::WatchedServicePtr service_;
};

}  // namespace custodian
