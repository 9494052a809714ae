#include "custodian/fencing_token.hpp"

#include <ostream>

namespace custodian {

std::string to_string(FencingToken token) {
  const std::string value = std::to_string(token.value);
  return token.epoch == 0 ? value : std::to_string(token.epoch) + ":" + value;
}

std::ostream& operator<<(std::ostream& out, FencingToken token) { return out << to_string(token); }

}  // namespace custodian
