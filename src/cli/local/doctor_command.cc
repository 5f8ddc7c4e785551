#include "cli/local/commands.h"

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/shown_text.h"
#include "cli/table/arguments.h"
#include "doctor/examination.h"
#include "doctor/observation.h"
#include "doctor/policy_trials.h"
#include "doctor/report_text.h"
#include "doctor/startup_warnings.h"
#include "doctor/surroundings.h"
#include "sandbox/backend.h"
#include "wire/encode.h"

namespace holdfast::cli {

namespace {

// Errors are ignored: a caller that has closed standard output does not want the text.
void Print(const std::string& text) {
  (void)std::fputs(text.c_str(), stdout);
  (void)std::fflush(stdout);
}

int RunDoctor(const Arguments& arguments) {
  if (const auto inside = arguments.Values(doctor::kInsideFlag); !inside.empty()) {
    const doctor::Places places{.outside_file = inside[0], .workspace = inside[1]};
    Print(wire::Encode(doctor::Observe(places)) + '\n');
    ::_exit(0);  // destructors and exit handlers may fail in a sandbox
  }
  if (arguments.Has("--startup")) {
    const auto backend = sandbox::BackendOf(arguments.ValueOr("--backend", "auto")).value_or(sandbox::Backend::kAuto);
    for (const std::string& warning : doctor::StartupWarnings(backend)) Print(ShownText(warning) + '\n');
    return 0;
  }
  const doctor::Report report = doctor::Examine(doctor::OwnSurroundings());
  Print(arguments.Has("--json") ? ShownJson(wire::Encode(report)) + '\n' : doctor::Text(report));
  return report.works ? 0 : 1;
}

}  // namespace

Command DoctorCommand() {
  return {.name = "doctor",
          .topic = Topic::kServers,
          .summary = "Tells whether the sandbox works on this machine, and why not.",
          .options = {{.flag = "--json", .help = "print one JSON object instead of text"},
                      {.flag = "--startup", .help = "print only the warnings that a server logs when it starts"},
                      {.flag = "--backend",
                       .value = "NAME",
                       .help = "with --startup: the warnings of a server with this --sandbox-backend",
                       .choices = {"auto", "native", "bubblewrap"},
                       .default_value = "auto"},
                      // Only the examination uses this option.
                      {.flag = doctor::kInsideFlag, .value = "PATH", .shown = Option::Shown::kNo, .values = 2}},
          .examples = {{"holdfast doctor", "Tries out every part of the sandbox and prints what it finds."}},
          .exit_statuses = {{"0", "the sandbox works"},
                            {"1", "the sandbox does not work"},
                            {"2", "the command line is wrong"}},
          .run = RunDoctor};
}

}  // namespace holdfast::cli
