#include "custodian/discovery/registration.hpp"

#include <chrono>

#include "custodian/authoring/path.hpp"
#include "custodian/authoring/uuid.hpp"
#include "custodian/discovery/service_discovery.hpp"
#include "discovery_spec.hpp"

namespace custodian {

namespace {

CreateMode mode_of(ServiceType type) {
  switch (type) {
    case ServiceType::dynamic: return CreateMode::ephemeral;
    case ServiceType::dynamic_sequential: return CreateMode::ephemeral_sequential;
    case ServiceType::fixed:
    case ServiceType::permanent: break;
  }
  return CreateMode::persistent;
}

ServiceInstance completed(ServiceInstance instance) {
  if (instance.id.empty()) instance.id = make_uuid();
  if (!instance.registered) {
    instance.registered =
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
  return instance;
}

std::string path_of(const discovery_detail::DiscoverySpec& spec, const ServiceInstance& instance) {
  const std::string service =
      discovery_detail::path_of_service(spec, "register_service", instance.name);
  if (instance.id.find('/') != std::string::npos) {
    throw Error{Errc::invalid_argument, "register_service", service, "the id has a slash"};
  }
  return join(service, instance.id);
}

/// A restarted process finds the node of its earlier session under its id: the node is replaced in
/// one transaction.
PersistentNodeOptions node_options(const discovery_detail::DiscoverySpec& spec, ServiceType type) {
  return {.mode = mode_of(type),
          .acl = spec.options.acl,
          .foreign_node = ForeignNode::is_taken_over,
          .foreign_write = spec.options.foreign_write};
}

}  // namespace

struct Registration::Kept {
  Kept(const discovery_detail::DiscoverySpec& spec, ServiceInstance given)
      : instance{completed(std::move(given))},
        enabled_member{spec.options.enabled_member},
        node{spec.client, path_of(spec, instance), encode_instance(instance, enabled_member),
             node_options(spec, instance.type)} {}

  ServiceInstance instance;
  EnabledMember enabled_member;
  PersistentNode node;
};

Registration::Registration() noexcept = default;
Registration::Registration(Registration&& other) noexcept = default;
Registration& Registration::operator=(Registration&& other) noexcept = default;
Registration::~Registration() = default;

Registration::Registration(const discovery_detail::DiscoverySpec& spec, ServiceInstance instance)
    : kept_{std::make_unique<Kept>(spec, std::move(instance))} {}

const ServiceInstance& Registration::instance() const { return kept_->instance; }
std::string Registration::path() const { return kept_->node.path(); }
Registration::State Registration::state() const { return kept_->node.state(); }

Subscription Registration::on_state(PersistentNode::Listener listener) const {
  return kept_->node.on_state(std::move(listener));
}

PersistentNode& Registration::node() const { return kept_->node; }

std::string Registration::change(ServiceInstance instance) {
  const ServiceInstance& known = kept_->instance;
  if (!instance.registered) instance.registered = known.registered;
  if (instance.name != known.name || instance.id != known.id || instance.type != known.type) {
    throw Error{Errc::invalid_argument, "update", kept_->node.path(),
                "the name, the id and the type of a registered instance stay"};
  }
  std::string json = encode_instance(instance, kept_->enabled_member);
  kept_->instance = std::move(instance);
  return json;
}

void Registration::update(ServiceInstance instance, OperationOptions options) {
  kept_->node.set_data(change(std::move(instance)), options);
}

bool Registration::unregister(Deadline deadline) { return kept_->node.close(deadline); }

}  // namespace custodian
