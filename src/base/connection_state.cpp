#include "custodian/connection_state.hpp"

namespace custodian {

std::string_view to_string(ConnectionState state) noexcept {
  switch (state) {
    case ConnectionState::connecting: return "connecting";
    case ConnectionState::connected: return "connected";
    case ConnectionState::suspended: return "suspended";
    case ConnectionState::reconnected: return "reconnected";
    case ConnectionState::lost: return "lost";
    case ConnectionState::closed: return "closed";
  }
  return "unknown";
}

}  // namespace custodian
