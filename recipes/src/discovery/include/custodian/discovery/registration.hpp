#pragma once

/// \file
/// Registration is a registered instance of a service: its node is kept on the servers for as long
/// as the object lives. Made by ServiceDiscovery.
///
/// The node is a PersistentNode. It is not written when the connection is interrupted and the
/// session goes on, and after a lost session it is created anew: the instance is not missing while
/// its process lives and can reach the servers.
///
/// Threads: any, but one at a time for update() and its like, moves and the destructor. Lifetimes:
/// the client may be destroyed first. Then the node of a dynamic instance goes with its session,
/// and that of a `fixed` or `permanent` one stays.

#include <memory>
#include <string>
#include <utility>

#include "custodian/deadline.hpp"
#include "custodian/discovery/discovery_options.hpp"
#include "custodian/discovery/service_instance.hpp"
#include "custodian/export.hpp"
#include "custodian/nodes/persistent_node.hpp"
#include "custodian/operation_options.hpp"

namespace custodian {

namespace discovery_detail {
struct DiscoverySpec;
}  // namespace discovery_detail

/// An instance of a service, registered.
/// \copydetails custodian/discovery/registration.hpp
class CUSTODIAN_EXPORT Registration {
 public:
  /// What is known of the node; see PersistentNodeState.
  using State = PersistentNodeState;

  /// Registers nothing. The object may only be destroyed, assigned to, and converted to bool.
  Registration() noexcept;
  /// Leaves `other` without an instance.
  Registration(Registration&& other) noexcept;
  /// Unregisters the instance that this object had before.
  Registration& operator=(Registration&& other) noexcept;
  /// Unregisters the instance, in the background: the node is deleted. Does not wait.
  ~Registration();

  /// Whether this object has an instance.
  [[nodiscard]] explicit operator bool() const noexcept { return kept_ != nullptr; }

  /// The instance as it was registered, or updated last: with its id, and the time.
  [[nodiscard]] const ServiceInstance& instance() const;
  /// The path of the instance's node; empty until the servers have numbered it.
  [[nodiscard]] std::string path() const;
  /// What is known of the node now. It may be out of date at once.
  [[nodiscard]] State state() const;
  /// Calls the listener with every state from now on: see PersistentNode::on_state().
  [[nodiscard]] Subscription on_state(PersistentNode::Listener listener) const;

  /// Waits until the node exists: see PersistentNode::async_wait_present(). A registration from
  /// ServiceDiscovery has done so already; after a lost session the node is created anew a little
  /// later.
  template <typename Token>
  auto async_wait_registered(OperationOptions options, Token&& token) const {
    return node().async_wait_present(options, std::forward<Token>(token));
  }

  /// Registers other data for the instance, and waits until the servers have them. The name, the id
  /// and the type cannot change: an update with other ones is refused. If the update has no time,
  /// the time stays.
  /// Completes with: error.
  /// Cancellation: total; the new data stay wanted, and are written later.
  /// Errors: those of PersistentNode::async_set_data(). Throws Error at once: invalid_argument
  /// (what encode_instance() refuses; another name, id or type; data that are too large). Executor:
  /// the handler's, or the client's callback executor.
  template <typename Token>
  auto async_update(ServiceInstance instance, OperationOptions options, Token&& token) {
    return node().async_set_data(change(std::move(instance)), options, std::forward<Token>(token));
  }
  /// async_update() with default options.
  template <typename Token>
  auto async_update(ServiceInstance instance, Token&& token) {
    return async_update(std::move(instance), OperationOptions{}, std::forward<Token>(token));
  }
  /// The blocking form of async_update(). Throws Error.
  void update(ServiceInstance instance, OperationOptions options = {});

  /// Unregisters the instance, and waits until its node is gone.
  /// Completes with: error, whether the node is gone: see PersistentNode::async_close().
  /// Cancellation: total; the delete goes on.
  /// Errors: no_auth, operation_aborted.
  /// Executor: the handler's, or the client's callback executor.
  template <typename Token>
  auto async_unregister(Deadline deadline, Token&& token) {
    return node().async_close(deadline, std::forward<Token>(token));
  }
  /// The blocking form of async_unregister(). Throws Error. Default: the client's operation
  /// timeout.
  bool unregister(Deadline deadline = {});

  /// For ServiceDiscovery: begins to register the instance.
  Registration(const discovery_detail::DiscoverySpec& spec, ServiceInstance instance);

 private:
  struct Kept;
  [[nodiscard]] PersistentNode& node() const;
  /// Makes `instance` the registered one, and returns its JSON.
  [[nodiscard]] std::string change(ServiceInstance instance);

  std::unique_ptr<Kept> kept_;
};

}  // namespace custodian
