#pragma once

/// \file
/// SIGINT and SIGTERM end the run in an orderly way: servers and workers go with it.

namespace custodian::chaos {

struct Interrupted {};

/// Once, before the run.
void note_interruptions();
/// Throws Interrupted when one has come.
void throw_if_interrupted();

}  // namespace custodian::chaos
