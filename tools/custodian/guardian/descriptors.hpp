#pragma once

/// \file
/// A child process closes the descriptors that it must not keep.

namespace custodian::cli {

/// Closes all descriptors but the standard three and `kept`. Works also where the system has no
/// close_range(), or a sandbox forbids it. The process must have no other threads.
void close_all_but(int kept);

}  // namespace custodian::cli
