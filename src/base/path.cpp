#include "custodian/authoring/path.hpp"

namespace custodian {

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string join(std::string_view parent, std::string_view name) {
  std::string path{parent};
  if (!path.ends_with('/')) {
    path += '/';
  }
  return path.append(name);
}

}  // namespace custodian
