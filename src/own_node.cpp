#include "custodian/own_node.hpp"

#include <utility>

#include "client_core.hpp"

namespace custodian {

OwnNode::OwnNode(std::shared_ptr<detail::ClientCore> core, Created created) noexcept
    : core_{std::move(core)}, created_{std::move(created)} {}

OwnNode& OwnNode::operator=(OwnNode&& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(created_, other.created_);
  std::swap(watch_, other.watch_);
  return *this;
}

OwnNode::~OwnNode() {
  if (!core_ || core_->forked()) return;
  const auto watch = watch_ ? std::make_shared<Watch>(std::move(watch_)) : nullptr;
  core_->on_strand([core = core_, path = core_->prefix().add(created_.path),
                    session = created_.stat.ephemeral_owner,
                    watch]() mutable { core->deletes().add(std::move(path), session, watch); });
}

std::string_view OwnNode::name() const noexcept {
  return std::string_view{created_.path}.substr(created_.path.rfind('/') + 1);
}

bool OwnNode::alive() const {
  return core_ && core_->session_info().id == created_.stat.ephemeral_owner;
}

}  // namespace custodian
