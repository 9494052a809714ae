#include "custodian/authoring/path.hpp"

#include <cstring>

namespace custodian {

std::string_view parent_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::string_view name_of(std::string_view path) {
  // This function runs for every node of a queue. memrchr() is quicker than rfind(), which compares
  // one character at a time.
  const void* const slash = path.empty() ? nullptr : ::memrchr(path.data(), '/', path.size());
  if (slash == nullptr) return path;
  return path.substr(static_cast<std::size_t>(static_cast<const char*>(slash) - path.data()) + 1);
}

std::string join(std::string_view parent, std::string_view name) {
  std::string path{parent};
  if (!path.ends_with('/')) {
    path += '/';
  }
  return path.append(name);
}

}  // namespace custodian
