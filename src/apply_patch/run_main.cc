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

// A file that is opened must not land on the number of a standard stream.
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
      (void)::poll(&writable, 1, -1);  // the next write tells what is wrong
    } else if (n < 0) {
      return FailErrno("write", "standard output", static_cast<int>(-n));
    } else {
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  return {};
}

Status Complain(Status status, std::string_view message) {
  (void)Print(STDERR_FILENO, fmt::format("apply_patch: {}\n", message));  // there is no other place to report to
  return status;
}

// A line as the summary lists an operation: new files first, then changed ones, then those that are gone.
struct Listed {
  size_t group;
  char letter;
  std::string_view path;
};

Listed Describe(const AddFile& add) { return {0, 'A', add.path}; }
Listed Describe(const UpdateFile& update) { return {1, 'M', update.move_to.value_or(update.path)}; }
Listed Describe(const DeleteFile& remove) { return {2, 'D', remove.path}; }

std::string Summary(const Patch& patch) {
  std::array<std::string, 3> groups;
  for (const Operation& operation : patch.operations) {
    const Listed listed = std::visit([](const auto& one) { return Describe(one); }, operation);
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
  if (!summary) return Complain(kFailed, summary.error().message);
  const auto printed = Print(STDOUT_FILENO, *summary);
  if (!printed) return Complain(kFailed, "the patch is applied, but: " + printed.error().message);
  return kApplied;
}

Status RunArguments(int argc, char** argv) {
  constexpr std::string_view usage = "usage: apply_patch 'PATCH', or apply_patch < PATCH";
  if (argc > 2) return Complain(kBadUsage, usage);
  if (argc == 2) return Run(argv[1]);
  const auto text = ReadToEnd(STDIN_FILENO, "standard input");
  if (!text) return Complain(kFailed, text.error().message);
  if (text->empty()) return Complain(kBadUsage, usage);
  return Run(*text);
}

}  // namespace

int RunMain(int argc, char** argv) {
  OccupyClosedStreams();
  // A file that grows too large and a pipe without a reader are errors to report, not reasons to end half way.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  try {
    return RunArguments(argc, argv);
  } catch (const std::bad_alloc&) {
    (void)Print(STDERR_FILENO, "apply_patch: out of memory\n");  // the text is not put together, which takes memory
    return kFailed;
  }
}

}  // namespace holdfast::apply_patch
