#include "custodian/lease/fencing_token.hpp"

#include <ostream>

namespace custodian {

std::string to_string(FencingToken token) {
  std::string text = std::to_string(token.value);
  if (token.epoch != 0 || token.grant != 0) text = std::to_string(token.epoch) + ":" + text;
  if (token.grant != 0) text += ":" + std::to_string(token.grant);
  return text;
}

std::ostream& operator<<(std::ostream& out, FencingToken token) { return out << to_string(token); }

}  // namespace custodian
