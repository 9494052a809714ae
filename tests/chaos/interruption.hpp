#pragma once

/// \file
/// SIGINT and SIGTERM end the run in an orderly way, with its servers and workers.

namespace custodian::chaos {

struct Interrupted {};

/// Installs the handlers. To be called once, before the run.
void note_interruptions();
/// Throws Interrupted if a signal has arrived.
void throw_if_interrupted();

}  // namespace custodian::chaos
