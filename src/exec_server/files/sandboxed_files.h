// File work under a sandbox: what a request does through a file helper, as jobs of FileJobs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exec_server/files/file_jobs.h"
#include "files/workers/file_helpers.h"
#include "sandbox/launch/sandbox_spec.h"
#include "wire/fs_handle_messages.h"

namespace holdfast::exec_server {

// The helper of one job: leased by its gate, used by its steps, given back when both are gone. When a helper turns out
// to be stale, the job goes through its gate again for another.
class HelperUse {
 public:
  // A gate that leases a helper for `session_id` under `sandbox`.
  FileJobs::Gate Gate(files::FileHelpers& helpers, const std::string& session_id, const sandbox::SandboxSpec& sandbox);

  // A step that has the helper do `operation`.
  FileJobs::Step Call(std::string_view operation, std::string params_json);

  // Opens a file in the helper; to be called by a step that RetryWhenStale has made.
  std::move_only_function<Result<files::File>()> Opener(wire::FsOpenFileParams params);

  // A step that does what `step` does, and goes through the gate again when the helper is stale.
  FileJobs::Step RetryWhenStale(FileJobs::Step step);

 private:
  struct Use {
    files::FileHelpers::Lease lease;
    bool is_stale = false;
    int stale_helpers = 0;  // one after the other
  };

  std::shared_ptr<Use> use_ = std::make_shared<Use>();
};

}  // namespace holdfast::exec_server
