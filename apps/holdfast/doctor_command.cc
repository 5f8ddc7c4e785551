#include "doctor_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "doctor/examination.h"
#include "doctor/observation.h"
#include "doctor/policy_trials.h"
#include "doctor/report_text.h"
#include "doctor/startup_warnings.h"
#include "doctor/surroundings.h"
#include "wire/encode.h"

namespace holdfast {

struct DoctorCommand::Options {
  bool json = false, startup = false;
  std::vector<std::string> inside;
};

namespace {

// Errors are ignored: a caller that has closed standard output does not want the text.
void Print(const std::string& text) {
  (void)std::fputs(text.c_str(), stdout);
  (void)std::fflush(stdout);
}

}  // namespace

DoctorCommand::DoctorCommand(CLI::App& app) : options_(std::make_unique<Options>()) {
  app.add_flag("--json", options_->json, "print one JSON object instead of text");
  app.add_flag("--startup", options_->startup, "print only the warnings that a server logs when it starts");
  app.add_option(doctor::kInsideFlag, options_->inside)
      ->expected(2)
      ->group("");  // hidden: only the examination uses it
}

DoctorCommand::~DoctorCommand() = default;

int DoctorCommand::Run() const {
  if (!options_->inside.empty()) {
    const doctor::Places places{.outside_file = options_->inside[0], .workspace = options_->inside[1]};
    Print(wire::Encode(doctor::Observe(places)) + '\n');
    ::_exit(0);  // destructors and exit handlers may fail in a sandbox
  }
  if (options_->startup) {
    for (const std::string& warning : doctor::StartupWarnings()) Print(warning + '\n');
    return 0;
  }
  const doctor::Report report = doctor::Examine(doctor::OwnSurroundings());
  Print(options_->json ? wire::Encode(report) + '\n' : doctor::Text(report));
  return report.works ? 0 : 1;
}

}  // namespace holdfast
