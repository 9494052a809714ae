#include "custodian/mirror/mirror_options.hpp"

namespace custodian {

std::string_view to_string(MirrorState state) noexcept {
  switch (state) {
    case MirrorState::loading: return "loading";
    case MirrorState::synced: return "synced";
    case MirrorState::suspended: return "suspended";
    case MirrorState::resyncing: return "resyncing";
    case MirrorState::closed: return "closed";
  }
  return "unknown";
}

}  // namespace custodian
