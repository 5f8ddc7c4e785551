#include "apply_patch/run_main.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "apply_patch/apply.h"
#include "apply_patch/disk.h"
#include "apply_patch/make_plan.h"
#include "apply_patch/parse.h"
#include "apply_patch/plan.h"
#include "base/result.h"
#include "sys/io.h"

namespace holdfast::apply_patch {
namespace {

enum Status { kApplied = 0, kFailed = 1, kBadUsage = 2 };

// Opens /dev/null in place of standard streams that are closed. Otherwise a file that is opened later would get the
// descriptor of a standard stream, and its output.
void OccupyClosedStreams() {
  for (;;) {
    auto fd = sys::OpenDevNull();
    if (!fd || fd->get() > STDERR_FILENO) return;
    (void)fd->Release();  // held for the life of the program
  }
}

Result<> Print(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = sys::Write(fd, text.data(), text.size());
    if (n == -EAGAIN) {
      pollfd writable = {fd, POLLOUT, 0};
      (void)::poll(&writable, 1, -1);  // if the wait fails, the next write returns the error
    } else if (n < 0) {
      return FailErrno("write", "standard output", static_cast<int>(-n));
    } else {
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  return {};
}

Status PrintError(Status status, std::string_view message) {
  (void)Print(STDERR_FILENO,
              fmt::format("apply_patch: {}\n", message));  // an error of standard error cannot be shown anywhere
  return status;
}

// One line of the summary. The summary lists the files that were added first, then the changed ones, then the removed
// ones.
struct SummaryLine {
  size_t group;
  char letter;
  std::string_view path;
};

SummaryLine Describe(const AddFile& add) { return {0, 'A', add.path}; }
SummaryLine Describe(const UpdateFile& update) { return {1, 'M', update.move_to.value_or(update.path)}; }
SummaryLine Describe(const DeleteFile& remove) { return {2, 'D', remove.path}; }

std::string Summary(const Patch& patch) {
  std::array<std::string, 3> groups;
  for (const Operation& operation : patch.operations) {
    const SummaryLine listed = std::visit([](const auto& one) { return Describe(one); }, operation);
    groups[listed.group] += fmt::format("{} {}\n", listed.letter, listed.path);
  }
  return "Success. Updated the following files:\n" + groups[0] + groups[1] + groups[2];
}

Result<std::string> ApplyText(std::string_view text) {
  TRY(const Patch patch, ParsePatch(text));
  TRY(const Plan plan, MakePlan(patch));
  std::string summary = Summary(patch);
  TRY_VOID(Apply(plan));
  return summary;
}

Status Run(std::string_view text) {
  const auto summary = ApplyText(text);
  if (!summary) return PrintError(kFailed, summary.error().message);
  const auto printed = Print(STDOUT_FILENO, *summary);
  if (!printed) return PrintError(kFailed, "the patch is applied, but: " + printed.error().message);
  return kApplied;
}

Status RunArguments(int argc, char** argv) {
  constexpr std::string_view usage = "usage: apply_patch 'PATCH', or apply_patch < PATCH";
  if (argc > 2) return PrintError(kBadUsage, usage);
  if (argc == 2) return Run(argv[1]);
  const auto text = ReadToEnd(STDIN_FILENO, "standard input");
  if (!text) return PrintError(kFailed, text.error().message);
  if (text->empty()) return PrintError(kBadUsage, usage);
  return Run(*text);
}

}  // namespace

int RunMain(int argc, char** argv) {
  OccupyClosedStreams();
  // A file that grows too large and a pipe without a reader are errors of a write. They must not end the program half
  // way.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    return RunArguments(argc, argv);
  } catch (const std::bad_alloc&) {
    (void)Print(STDERR_FILENO, "apply_patch: out of memory\n");  // a constant text, because formatting one takes memory
    return kFailed;
  }
}

}  // namespace holdfast::apply_patch
