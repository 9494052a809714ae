#pragma once

/// \file
/// The process between the runner and the command. It runs the command when it is told to, and sees
/// to it that the command, with all that it has started, does not outlive its right to run: it ends
/// all of it when the runner is gone, killed or not, and when the lock is lost. Of a loss it is
/// told; and it is told beforehand how long the lock is held at the least, so that a runner which
/// is stopped itself, and cannot know, does not let the command run on.
///
/// A process of its own, forked before the runner has any thread: whoever is killed cannot clean up
/// behind itself. It has a process group of its own, for who kills the runner's means the runner,
/// but stays in the session, to hand on the terminal.

#include <string>
#include <vector>

#include "guardian/signal_setting.hpp"

namespace custodian::cli {

/// The guardian's whole life, in a process of its own with one thread. `control` is a socket whose
/// other end is the runner's alone; `runner_group` its process group.
[[noreturn]] void guard(int control, std::vector<std::string> command, SignalSetting as_started,
                        int runner_group);

}  // namespace custodian::cli
