#include "guardian/descriptors.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace custodian::cli {
namespace {

constexpr int first_of_ours = 3;

bool close_ranges_around(int kept) {
  const auto middle = static_cast<unsigned>(kept);
  if (kept > first_of_ours && close_range(first_of_ours, middle - 1, 0) != 0) return false;
  return close_range(std::max<unsigned>(middle + 1, first_of_ours), ~0U, 0) == 0;
}

/// The open descriptors or, without /proc, all that could be open.
std::vector<int> open_descriptors() {
  std::vector<int> found;
  if (DIR* const directory = opendir("/proc/self/fd")) {
    while (const dirent* const entry = readdir(directory)) {
      const std::string_view name{entry->d_name};
      int descriptor = -1;
      const auto number = std::from_chars(name.data(), name.data() + name.size(), descriptor);
      if (number.ec == std::errc{} && descriptor != dirfd(directory)) found.push_back(descriptor);
    }
    closedir(directory);
    return found;
  }
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  // A limit of millions is not tried in full: this process has not inherited that many descriptors.
  const auto end = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, rlim_t{1} << 20));
  for (int descriptor = 0; descriptor < end; ++descriptor) found.push_back(descriptor);
  return found;
}

}  // namespace

void close_all_but(int kept) {
  if (close_ranges_around(kept)) return;
  for (const int descriptor : open_descriptors()) {
    if (descriptor >= first_of_ours && descriptor != kept) close(descriptor);
  }
}

}  // namespace custodian::cli
