#pragma once

/// \file
/// These functions let a process with threads stop itself, as the terminal would stop it.

namespace custodian::cli {

/// Blocks the terminal's stop signals in this thread and in the threads that it starts from now on,
/// so that a stop is delivered only to the thread that asks for it and has called allow_stops().
void defer_stops();
/// Unblocks the terminal's stop signals in this thread.
void allow_stops();

}  // namespace custodian::cli
