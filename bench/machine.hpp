#pragma once

/// \file
/// Machine describes the machine of a run, for people.

#include <string>

namespace custodian::bench {

/// Processor, memory and system, and the load before the run, which shows other processes' use.
[[nodiscard]] std::string describe_machine();
/// The type of the file system, such as "ext4". "tmpfs" is not on a disk.
[[nodiscard]] std::string file_system_of(const std::string& directory);
/// The date and time now, in UTC.
[[nodiscard]] std::string date_and_time();

}  // namespace custodian::bench
