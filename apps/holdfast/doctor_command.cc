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

struct DoctorCommand::Words {
  bool json = false, startup = false;
  std::vector<std::string> inside;
};

namespace {

// A closed stdout is the caller's wish.
void Print(const std::string& text) {
  (void)std::fputs(text.c_str(), stdout);
  (void)std::fflush(stdout);
}

}  // namespace

DoctorCommand::DoctorCommand(CLI::App& app) : words_(std::make_unique<Words>()) {
  app.add_flag("--json", words_->json, "one JSON object instead of text");
  app.add_flag("--startup", words_->startup, "only what a server should know before the first command fails");
  app.add_option(doctor::kInsideFlag, words_->inside)->expected(2)->group("");  // for the examination itself
}

DoctorCommand::~DoctorCommand() = default;

int DoctorCommand::Run() const {
  if (!words_->inside.empty()) {
    const doctor::Places places{.outside_file = words_->inside[0], .workspace = words_->inside[1]};
    Print(wire::Encode(doctor::Observe(places)) + '\n');
    ::_exit(0);  // what a program does at its exit need not work in a sandbox
  }
  if (words_->startup) {
    for (const std::string& warning : doctor::StartupWarnings()) Print(warning + '\n');
    return 0;
  }
  const doctor::Report report = doctor::Examine(doctor::OwnSurroundings());
  Print(words_->json ? wire::Encode(report) + '\n' : doctor::Text(report));
  return report.works ? 0 : 1;
}

}  // namespace holdfast
