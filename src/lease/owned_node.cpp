#include "custodian/authoring/owned_node.hpp"

#include <utility>

#include "client/client_core.hpp"
#include "client/queued_node.hpp"
#include "custodian/authoring/path.hpp"

namespace custodian {

void detail::tell_missing(QueuedNode& node) {
  if (std::exchange(node.missing, true)) return;
  if (node.on_missing) node.on_missing();
}

OwnedNode::OwnedNode(CorePtr core, Created created, ForbiddenDelete if_forbidden)
    : core_{std::move(core)},
      created_{std::make_shared<const Created>(std::move(created))},
      if_forbidden_{if_forbidden} {}

OwnedNode& OwnedNode::operator=(OwnedNode&& other) noexcept {
  OwnedNode taken{std::move(other)};
  // The destructor of `taken` deletes the node that was owned here.
  std::swap(core_, taken.core_);
  std::swap(created_, taken.created_);
  std::swap(if_forbidden_, taken.if_forbidden_);
  std::swap(is_gone_, taken.is_gone_);
  std::swap(watch_, taken.watch_);
  std::swap(line_, taken.line_);
  std::swap(next_, taken.next_);
  return *this;
}

namespace {

const Created& none() {
  static const Created created;
  return created;
}

/// Leaves a place in a line of the client's own contenders.
void leave(detail::ClientCore& core, detail::QueuedNode& node, const FindSuccessor& next) {
  node.left = true;
  // A node whose delete is under way already shields no other node.
  const bool in_order = !node.missing && !core.closed() &&
                        core.own_session_info().id == node.session &&
                        !core.deletes().has(node.path);
  node.successor = next(in_order ? LeaveReason::in_order : LeaveReason::forfeited);
}

}  // namespace

OwnedNode::~OwnedNode() {
  if (!core_ || core_->forked()) return;
  const auto watch = watch_ ? std::make_shared<Watch>(std::move(watch_)) : nullptr;
  // For session 0, GuaranteedDeletes only logs a forbidden delete.
  const bool may_end_session = if_forbidden_ == ForbiddenDelete::ends_session;
  if (is_gone_) {
    // A create that is applied late may bring the node back: then nobody owns it.
    core_->on_strand([core = core_, path = core_->prefix().add(created_->path)] {
      core->late_creates().disown(path);
    });
    return;
  }
  core_->on_strand([core = core_, path = core_->prefix().add(created_->path),
                    session = may_end_session ? created_->stat.ephemeral_owner : 0, watch,
                    line = std::move(line_), next = std::move(next_)]() mutable {
    if (next) leave(*core, *line, next);
    core->deletes().add(std::move(path), session, watch, std::move(line));
  });
}

const std::string& OwnedNode::path() const noexcept {
  return created_ ? created_->path : none().path;
}

const Stat& OwnedNode::stat() const noexcept { return created_ ? created_->stat : none().stat; }

std::string_view OwnedNode::name() const noexcept { return name_of(path()); }

bool OwnedNode::alive() const {
  return core_ && core_->own_session_info().id == created_->stat.ephemeral_owner;
}

void OwnedNode::note_gone() {
  is_gone_ = true;
  forfeit();
}

void OwnedNode::stand_in_line(FindSuccessor next) {
  line_ = std::make_shared<detail::QueuedNode>(detail::QueuedNode{
      .path = core_->prefix().add(created_->path), .session = created_->stat.ephemeral_owner});
  next_ = std::move(next);
}

void OwnedNode::forfeit() {
  if (const FindSuccessor next = std::exchange(next_, nullptr)) {
    line_->left = true;
    line_->successor = next(LeaveReason::forfeited);
  }
}

}  // namespace custodian
