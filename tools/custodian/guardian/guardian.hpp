#pragma once

/// \file
/// The guardian is the process between the runner and the command. It runs the command on the
/// runner's order. It ends the command, and every process that the command has started, when the
/// runner is gone (killed or not) and when the lock is lost. The runner reports a loss; it also
/// sends in advance the time until which the lock is certainly held, so that the command ends even
/// if the runner is stopped and cannot notice the loss.
///
/// It is a process of its own because a killed runner cannot clean up, and is forked before the
/// runner has any thread. It has its own process group, so that a kill of the runner's group spares
/// it, but stays in the runner's session, to lend the terminal.

#include <string>
#include <vector>

#include "guardian/signal_setting.hpp"

namespace custodian::cli {

/// The whole life of the guardian, in a process of its own with one thread. Only the runner has the
/// other end of the socket `control`; `runner_group` is the runner's process group.
[[noreturn]] void guard(int control, std::vector<std::string> command, SignalSetting as_started,
                        int runner_group);

}  // namespace custodian::cli
