#include "cli/sandbox/sandbox_warnings.h"

#include <string>

#include "cli/private_server/private_server.h"
#include "cli/text/complaint.h"
#include "doctor/startup_warnings.h"
#include "runtime_dir/runtime_dir.h"
#include "sandbox/backend.h"

namespace holdfast::cli {

void PrintSandboxWarningsOnce(std::string_view who) {
  const auto place = runtime_dir::FindRuntimeDir();
  if (!place || !TakeFirstUse(*place)) return;
  for (const std::string& warning : doctor::StartupWarnings(sandbox::Backend::kAuto)) {
    PrintComplaint(who, "warning: " + warning);
  }
}

}  // namespace holdfast::cli
