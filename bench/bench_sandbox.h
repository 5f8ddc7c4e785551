// The cost of a sandbox around /bin/true: of bare bubblewrap with the same mounts, of the helper with each backend, and
// of sandboxed commands through the server.
#pragma once

#include "bench_report.h"

namespace holdfast::bench {

// Measures all of these in interleaved rounds, so that they see the machine in the same state.
void MeasureSandbox(Report& report);

// Measures sandboxed commands through the server in workspaces of different sizes, in interleaved rounds.
void MeasureSandboxWorkspaces(Report& report);

// Measures how many sandboxed commands a server runs in a second, with 32 of them in flight.
void MeasureSandboxRate(Report& report);

}  // namespace holdfast::bench
