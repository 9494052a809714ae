#include "guardian/descendants.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace custodian::cli {
namespace {

std::vector<ProcessEntry> all_processes() {
  std::vector<ProcessEntry> all;
  std::error_code error;
  for (std::filesystem::directory_iterator entry{"/proc", error}, end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ostringstream line;
    line << std::ifstream{entry->path() / "stat"}.rdbuf();
    if (const auto parsed = parse_stat(line.str())) all.push_back(*parsed);
  }
  return all;
}

}  // namespace

std::optional<ProcessEntry> parse_stat(std::string_view line) {
  ProcessEntry entry;
  const auto number = std::from_chars(line.data(), line.data() + line.size(), entry.process);
  // A program's name may contain brackets and spaces, so the last bracket on the line ends the
  // name.
  const auto name_end = line.rfind(") ");
  if (number.ec != std::errc{} || name_end == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(name_end + 2);
  if (rest.size() < 3) return std::nullopt;
  entry.is_zombie = rest.front() == 'Z' || rest.front() == 'X';
  const auto parent = std::from_chars(rest.data() + 2, rest.data() + rest.size(), entry.parent);
  if (parent.ec != std::errc{}) return std::nullopt;
  return entry;
}

std::vector<ProcessEntry> descendants(pid_t ancestor, const std::vector<ProcessEntry>& all) {
  std::vector<ProcessEntry> found;
  const auto add_children = [&](pid_t parent) {
    for (const ProcessEntry& entry : all) {
      if (entry.parent == parent) found.push_back(entry);
    }
  };
  add_children(ancestor);
  for (std::size_t next = 0; next < found.size() && found.size() <= all.size(); ++next) {
    add_children(found[next].process);
  }
  return found;
}

std::vector<ProcessEntry> descendants(pid_t ancestor) {
  return descendants(ancestor, all_processes());
}

Reached kill_each(const std::vector<ProcessEntry>& entries, int signal) {
  bool is_any_reached = false;
  bool is_any_forbidden = false;
  for (const ProcessEntry& entry : entries) {
    if (entry.is_zombie) continue;
    if (kill(entry.process, signal) == 0) is_any_reached = true;
    // Any other error means that the process has ended meanwhile.
    else if (errno == EPERM)
      is_any_forbidden = true;
  }
  if (!is_any_forbidden) return Reached::all;
  return is_any_reached ? Reached::some : Reached::nobody;
}

std::chrono::milliseconds pause_after_killing(Reached reached) {
  return std::chrono::milliseconds{reached == Reached::nobody ? 1000 : 10};
}

bool is_orphaned(pid_t group) {
  return std::ranges::none_of(all_processes(), [group](const ProcessEntry& entry) {
    // A parent of 0 is in another PID namespace. For getpgid() and getsid() below, 0 would mean
    // this process.
    if (entry.is_zombie || entry.parent <= 0 || getpgid(entry.process) != group) return false;
    return getpgid(entry.parent) != group && getsid(entry.parent) == getsid(entry.process);
  });
}

}  // namespace custodian::cli
