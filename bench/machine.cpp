#include "machine.hpp"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "metrics.hpp"

namespace custodian::bench {
namespace {

/// The value in the first line that begins with `name`. The file's lines are "name : value" or
/// "name=value".
std::string value_in(const std::string& file, const std::string& name, char sign) {
  std::ifstream lines{file};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t place = line.find(sign);
    if (!line.starts_with(name) || place == line.npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t\"", place + 1);
    if (begin == line.npos) return {};
    return line.substr(begin, line.find_last_not_of(" \t\"") - begin + 1);
  }
  return {};
}

}  // namespace

std::string describe_machine() {
  std::ostringstream text;
  const std::string processor = value_in("/proc/cpuinfo", "model name", ':');
  text << std::thread::hardware_concurrency() << " cores";
  if (!processor.empty()) text << " (" << processor << ")";
  struct sysinfo system {};
  if (::sysinfo(&system) == 0)
    text << ", " << figure(static_cast<double>(system.totalram) * system.mem_unit / (1 << 30))
         << " GiB";
  utsname kernel{};
  ::uname(&kernel);
  text << ", " << value_in("/etc/os-release", "PRETTY_NAME", '=') << ", " << kernel.sysname << " "
       << kernel.release;
  std::array<double, 1> load{};
  if (::getloadavg(load.data(), 1) == 1) text << "; load before the run " << figure(load[0]);
  return text.str();
}

std::string file_system_of(const std::string& directory) {
  // The file system is that of the longest mount point above the directory. Of several mounts at
  // one point, the last one is visible.
  std::error_code ignored;
  const std::string path = std::filesystem::canonical(directory, ignored).string() + "/";
  std::ifstream mounts{"/proc/self/mounts"};
  std::string best;
  std::string kind = "unknown";
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words{line};
    std::string device;
    std::string point;
    std::string type;
    words >> device >> point >> type;
    if (!point.ends_with('/')) point += '/';
    if (!path.starts_with(point) || point.size() < best.size()) continue;
    best = point;
    kind = type;
  }
  return kind;
}

std::string date_and_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return text.data();
}

}  // namespace custodian::bench
