#pragma once

/// \file
/// The guardian is the process between the runner and the command. It runs the command when it is
/// ordered to, and ends it, with all that it has started, when the runner is gone, killed or not,
/// and when the lock is lost. The runner reports a loss; it also sends beforehand how long the lock
/// is held at the least, so that the command ends even if the runner is stopped and cannot know of
/// the loss.
///
/// It is a process of its own, forked before the runner has any thread, for a killed process cannot
/// clean up after itself. It has its own process group, so that a kill of the runner's group spares
/// it, but stays in the session, to pass on the terminal.

#include <string>
#include <vector>

#include "guardian/signal_setting.hpp"

namespace custodian::cli {

/// The guardian's whole life, in a process of its own with one thread. `control` is a socket whose
/// other end is the runner's alone; `runner_group` its process group.
[[noreturn]] void guard(int control, std::vector<std::string> command, SignalSetting as_started,
                        int runner_group);

}  // namespace custodian::cli
