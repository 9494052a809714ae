#pragma once

#include <sys/types.h>

namespace custodian::detail {

/// getpid(), which is a system call, and would be made a dozen times for each lock. In a child that
/// shares this memory (vfork) it is still the parent's.
[[nodiscard]] pid_t process_id() noexcept;

}  // namespace custodian::detail
