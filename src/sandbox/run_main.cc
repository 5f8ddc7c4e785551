#include "sandbox/run_main.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "sandbox/flags.h"
#include "sandbox/jail/inner_stage.h"
#include "sandbox/outcome.h"
#include "sandbox/passed_text.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/run.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

Result<InnerOrders> ReadOrders(std::string_view descriptor) {
  TRY(const int fd, ParseDescriptor(descriptor));
  TRY(const std::string bytes, ReadPassedText(fd));
  return DecodeOrders(bytes);
}

// Ends the process by itself: what a program does at its exit has no business in pid 1 of a sandbox.
int RunInner(std::string_view descriptor, BuiltIn file_helper) {
  const auto orders = ReadOrders(descriptor);
  if (!orders) return Conclude(kProgramName, Fails(kInternal, orders.error().message));
  ::_exit(RunInnerStage(*orders, file_helper));
}

Outcome RunOuter(std::string_view called_as, const std::vector<std::string_view>& words, BuiltIn file_helper) {
  (void)std::signal(SIGCHLD, SIG_DFL);  // where it is ignored nobody can be waited for
  // A stream that is closed stays out of the way of what is opened here.
  if (const auto reserved = sys::ReserveLowFds(); !reserved) return Fails(kInternal, reserved.error().message);
  const auto command = ParseFlags(words);
  if (!command) return Fails(kBadUsage, fmt::format("{}\n{}", command.error().message, Usage()));
  return Run(*command, called_as, file_helper);
}

// The name that this program was called by, without its directory.
std::string_view CalledAs(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  return path.substr(path.rfind('/') + 1);
}

bool IsInnerStage(int argc, char** argv) { return argc == 3 && std::string_view(argv[1]) == kInnerStage; }

}  // namespace

bool IsCalledAsHelper(int argc, char** argv) {
  const std::string_view name = CalledAs(argc, argv);
  return name == kProgramName || name == "codex-linux-sandbox" || IsInnerStage(argc, argv);
}

int RunMain(int argc, char** argv, BuiltIn file_helper) {
  if (IsInnerStage(argc, argv)) return RunInner(argv[2], file_helper);
  const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
  const std::string_view called_as = CalledAs(argc, argv);
  return Conclude(called_as, RunOuter(called_as, words, file_helper), FindReportFd(words));
}

}  // namespace holdfast::sandbox
