#include "sandbox/launchers/sandboxed_start.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/record.h"
#include "process/wrapped_command.h"
#include "sys/io.h"
#include "sys/memory_file.h"
#include "sys/placeholder.h"

namespace holdfast::sandbox {

process::WatchedStart SandboxedStart::Of(const Resources& resources, Request request) {
  process::WatchedStart start;
  start.program = request.command->program;
  start.cwd = request.command->cwd;
  start.begin = [resources, request = std::move(request)](process::Stdio& stdio,
                                                          process::CommandObserver& observer) mutable {
    Streams streams{std::move(stdio.child_in), std::move(stdio.child_out), std::move(stdio.child_err)};
    return Begin(resources, std::move(request), std::move(streams), observer);
  };
  return start;
}

Result<std::unique_ptr<process::CommandWatch>> SandboxedStart::Begin(const Resources& resources, Request request,
                                                                     Streams streams,
                                                                     process::CommandObserver& observer) {
  const bool may_enter = resources.launchers.Serve(request.sandbox);
  std::unique_ptr<SandboxedStart> started(
      new SandboxedStart(resources, std::move(request), std::move(streams), observer));
  if (may_enter) {
    started->planning_.Start(started->Plan());
  } else {
    TRY_VOID(started->StartHelper());
  }
  return started;
}

SandboxedStart::SandboxedStart(const Resources& resources, Request request, Streams streams,
                               process::CommandObserver& observer)
    : resources_(resources),
      observer_(observer),
      request_(std::move(request)),
      streams_(std::move(streams)),
      gone_timer_(resources.loop, [this] { observer_.OnGone(); }) {}

EntryRequest SandboxedStart::Wanted() const {
  const SandboxProgram& program = resources_.program;
  const auto& command = request_->command;
  return {.command = command,
          .variables = command ? program.VariablesOf(*command) : process::Environment(),
          .kept_variable = request_->kept ? std::optional(request_->kept->name) : std::nullopt,
          .has_terminal = std::holds_alternative<process::Terminal>(request_->io),
          .is_supervised = request_->exec_supervisor != nullptr,
          .sandbox = request_->sandbox,
          .place = command ? SandboxProgram::PlaceOf(*command) : SandboxProgram::PlaceOfFileHelper(),
          .guarded = program.GuardedFor(request_->sandbox),
          .server_access = program.server_access(),
          .given_roots = program.given_roots(),
          .memory = resources_.memory};
}

loop::Task<> SandboxedStart::Plan() {
  auto plan = [wanted = Wanted()] { return PlanEntry(wanted); };
  auto planned = co_await resources_.workers.Do(std::move(plan));
  if (killed_) co_return;
  if (!planned || !Launch(*planned)) GoTheLongWay();
}

// Fails if no launcher can be asked.
Result<> SandboxedStart::Launch(const PlannedEntry& planned) {
  TRY(sys::SocketPair control, process::LaunchedSandbox::MakeControl());
  TRY(const OwnedFd entry, sys::MakeMemoryFile("entry", EncodeRecord(planned.entry)));
  std::vector<int> fds = {entry.get(), streams_.in.get(), streams_.out.get(), streams_.err.get(), control.theirs.get()};
  if (request_->exec_supervisor) fds.push_back(request_->exec_supervisor->get());
  if (request_->kept) fds.push_back(request_->kept->fd->get());
  launcher_ = resources_.launchers.Send(request_->session_id, planned.jail, fds);
  if (!launcher_) return Fail(ErrorKind::kSystem, "there is no launcher");
  if (MayProtectAnyName(request_->sandbox)) sys::ExpectPlaceholdersOfAnyName();
  Watch(std::make_unique<process::LaunchedSandbox>(resources_.loop, std::move(control.ours),
                                                   static_cast<process::CommandObserver&>(*this)));
  return {};
}

// A start that fails here has reached no keeper. Its kind is kSystem as that of a failure which a helper reports.
void SandboxedStart::GoTheLongWay() {
  launcher_.reset();
  if (const auto started = StartHelper(); !started) {
    watch_.reset();
    observer_.OnReport(Fail(ErrorKind::kSystem, started.error().message));
  }
}

Result<> SandboxedStart::StartHelper() {
  const SandboxProgram& program = resources_.program;
  const auto& [session, command, sandbox, io, exec_supervisor, kept] = *request_;
  TRY(const process::Command wrapped,
      command ? program.Wrap(*command, sandbox, {exec_supervisor, kept}) : program.FileHelper(sandbox));
  const process::StdioFds stdio{streams_.in.get(), streams_.out.get(), streams_.err.get()};
  TRY(auto helper, process::StartUnderKeeper(resources_.loop, resources_.spawner, wrapped, io, stdio,
                                             static_cast<process::CommandObserver&>(*this)));
  streams_ = {};
  Watch(std::move(helper));
  return {};
}

void SandboxedStart::Watch(std::unique_ptr<process::CommandWatch> watch) {
  watch_ = std::move(watch);
  for (const int signal : signals_) watch_->Signal(signal);
}

void SandboxedStart::Signal(int signal) {
  if (request_ && std::ranges::find(signals_, signal) == signals_.end()) signals_.push_back(signal);
  if (watch_) watch_->Signal(signal);
}

void SandboxedStart::KillAll() {
  killed_ = true;
  if (watch_) return watch_->KillAll();
  gone_timer_.Start(std::chrono::milliseconds(0));
}

void SandboxedStart::OnStarted(pid_t pid) {
  if (launcher_) resources_.launchers.OnLaunched(*launcher_);
  request_.reset();
  streams_ = {};
  signals_.clear();
  observer_.OnStarted(pid);
}

void SandboxedStart::OnNotLaunched() {
  resources_.launchers.OnNotLaunched(*launcher_);
  if (killed_) return observer_.OnGone();
  GoTheLongWay();
}

}  // namespace holdfast::sandbox
