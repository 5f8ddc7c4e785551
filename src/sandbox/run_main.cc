#include "sandbox/run_main.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/owned_fd.h"
#include "base/record_reader.h"
#include "base/result.h"
#include "sandbox/flags.h"
#include "sandbox/jail/inner_stage.h"
#include "sandbox/job.h"
#include "sandbox/native/jail_process.h"
#include "sandbox/outcome.h"
#include "sandbox/own_image.h"
#include "sandbox/plan/jail_plan.h"
#include "sandbox/plan/program_names.h"
#include "sandbox/run.h"
#include "sys/io.h"
#include "sys/own_arguments.h"
#include "sys/read_to_end.h"

namespace holdfast::sandbox {
namespace {

Result<InnerOrders> ReadOrders(std::string_view descriptor) {
  TRY(const int fd, ParseDescriptor(descriptor));
  TRY(const std::string bytes, sys::ReadToEnd(OwnedFd(fd).get(), kMaxRecordBytes, "orders"));
  return DecodeRecord<InnerOrders>(bytes);
}

// Serves as a jail, with the descriptors that the words name (native/jail_process.h).
Outcome ServeAsJail(std::span<const int> fds, BuiltIn file_helper) {
  const auto fd = [&](JailFd which) { return fds[static_cast<size_t>(which)]; };
  if (const auto safe = CheckOwnImage(fd(JailFd::kProgram)); !safe) return CannotEnforce(safe.error());
  const auto bytes = sys::ReadToEnd(OwnedFd(fd(JailFd::kPlan)).get(), kMaxRecordBytes, "plan");
  const auto plan = bytes ? DecodeRecord<JailPlan>(*bytes) : std::unexpected(bytes.error());
  if (!plan) return CannotEnforce(plan.error());
  const bool needs_ruleset = plan->mounts.filter == Filter::kGuardedNetwork;
  if (needs_ruleset != (fds.size() > static_cast<size_t>(JailFd::kPortRuleset))) {
    return Fails(kInternal, "jail: the port ruleset is there without need, or is missing");
  }
  const auto served =
      RunJailProcess(*plan, OwnedFd(fd(JailFd::kSocket)),
                     needs_ruleset ? std::optional(fd(JailFd::kPortRuleset)) : std::nullopt, file_helper);
  if (!served) return CannotEnforce(served.error());
  return 0;
}

int RunJail(std::string_view called_as, std::span<const std::string_view> words, BuiltIn file_helper) {
  std::vector<int> fds;
  for (const std::string_view word : words) {
    if (const auto fd = ParseDescriptor(word)) fds.push_back(*fd);
  }
  if (fds.size() != words.size() || fds.size() < static_cast<size_t>(JailFd::kPortRuleset)) {
    return Conclude(called_as, Fails(kBadUsage, "jail: the descriptors make no sense"));
  }
  return Conclude(called_as, ServeAsJail(fds, file_helper), fds[static_cast<size_t>(JailFd::kReport)]);
}

// Ends the process by _exit, because the exit handlers of a program must not run in pid 1 of a sandbox.
int RunInner(std::string_view descriptor, BuiltIn file_helper) {
  const auto orders = ReadOrders(descriptor);
  if (!orders) return Conclude(kProgramName, Fails(kInternal, orders.error().message));
  ::_exit(RunInnerStage(*orders, file_helper));
}

int PrintUsage(std::string_view called_as) {
  const std::string text = Usage(called_as);
  (void)sys::Write(STDOUT_FILENO, text.data(), text.size());  // a caller that has closed it does not want the text
  return 0;
}

}  // namespace

int RunMain(int argc, char** argv, BuiltIn file_helper) {
  sys::RememberArguments(argc, argv);
  const std::vector<std::string_view> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.size() == 2 && arguments[0] == kInnerStage) return RunInner(arguments[1], file_helper);
  const std::string_view called_as = CalledAs(argc, argv);
  if (AsksForHelp(arguments)) return PrintUsage(called_as);
  const auto end_with = [called_as, report_fd = FindReportFd(arguments)](const Outcome& outcome) {
    return Conclude(called_as, outcome, report_fd);
  };
  (void)std::signal(SIGCHLD, SIG_DFL);  // a process that ignores SIGCHLD cannot wait for its children
  // The numbers of standard streams that are closed must not be given to files that are opened here.
  if (const auto reserved = sys::ReserveLowFds(); !reserved) {
    return end_with(Fails(kInternal, reserved.error().message));
  }
  if (!arguments.empty() && arguments[0] == kJail) {
    return RunJail(called_as, std::span(arguments).subspan(1), file_helper);
  }
  const auto command = ParseFlags(arguments);
  if (!command) return end_with(Fails(kBadUsage, fmt::format("{}\n{}", command.error().message, Usage(called_as))));
  return end_with(Run(*command, called_as, file_helper));
}

}  // namespace holdfast::sandbox
