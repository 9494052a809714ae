#pragma once

#include <sys/types.h>

namespace custodian::detail {

/// process_id() is getpid() without its system call, which would be made a dozen times for each
/// lock. In a child that shares this memory (vfork), process_id() still returns the parent's.
[[nodiscard]] pid_t process_id() noexcept;

}  // namespace custodian::detail
