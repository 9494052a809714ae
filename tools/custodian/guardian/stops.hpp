#pragma once

/// \file
/// A process with threads that stops itself, as the terminal would stop it.

namespace custodian::cli {

/// Keeps the terminal's stop signals from this thread, and from those that it starts from now on:
/// so that a stop that allow_stops()' thread asks for is not another thread's to take, later.
void defer_stops();
/// In this thread.
void allow_stops();

}  // namespace custodian::cli
