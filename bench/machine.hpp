#pragma once

/// \file
/// Machine describes the machine of a run, for people.

#include <string>

namespace custodian::bench {

/// The processor, the memory, the system, and the load before the run, which shows whether other
/// processes were busy.
[[nodiscard]] std::string describe_machine();
/// The type of the file system that the directory is on, such as "ext4". A file system of type
/// "tmpfs" is not on a disk.
[[nodiscard]] std::string file_system_of(const std::string& directory);
/// The date and time now, in UTC.
[[nodiscard]] std::string date_and_time();

}  // namespace custodian::bench
