#include "custodian/mirror/mirrored_node.hpp"

namespace custodian {

std::string_view to_string(MirrorChangeKind kind) noexcept {
  switch (kind) {
    case MirrorChangeKind::added: return "added";
    case MirrorChangeKind::changed: return "changed";
    case MirrorChangeKind::removed: return "removed";
    case MirrorChangeKind::synced: return "synced";
  }
  return "unknown";
}

}  // namespace custodian
