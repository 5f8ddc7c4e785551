// All that a start in a sandbox needs, without jails: the helper makes each sandbox.
#pragma once

#include <memory>
#include <string>

#include "loop/event_loop.h"
#include "loop/worker_pool.h"
#include "process/spawner.h"
#include "sandbox/launchers/launchers.h"
#include "sandbox/launchers/sandboxed_start.h"

namespace holdfast::sandbox {

class WithoutJails {
 public:
  WithoutJails(loop::EventLoop& loop, process::Spawner& spawner, const SandboxProgram& program)
      : workers_(loop, {}),
        launchers_(loop, spawner, program, {.launchers = 0}, [](const std::string&, const Error&) {}),
        resources_{.loop = loop,
                   .spawner = spawner,
                   .workers = workers_,
                   .program = program,
                   .launchers = launchers_,
                   .memory = std::make_shared<WalkMemory>()} {}

  const SandboxedStart::Resources& resources() const { return resources_; }

 private:
  loop::WorkerPool workers_;
  Launchers launchers_;
  SandboxedStart::Resources resources_;
};

}  // namespace holdfast::sandbox
