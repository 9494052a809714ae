#pragma once

/// \file
/// Machine describes the machine of a run, for people.

#include <string>

namespace custodian::bench {

/// Processor, memory, system, compiler's build type, and whether others were using it.
[[nodiscard]] std::string describe_machine();
/// The kind of file system, "ext4"; of "tmpfs" people should know that it is no disk.
[[nodiscard]] std::string file_system_of(const std::string& directory);
/// UTC.
[[nodiscard]] std::string date_and_time();

}  // namespace custodian::bench
