#include "exec_server/processes/managed_process.h"

#include <memory>
#include <utility>

#include "base/file_uri.h"
#include "base/log.h"
#include "exec_server/processes/wire_stream.h"
#include "sandbox/denial/sandbox_denial.h"
#include "sandbox/helper_command/sandbox_summary.h"
#include "sandbox/launchers/sandboxed_start.h"
#include "sandbox/resolve/temporary_directory.h"
#include "sys/signal_name.h"

namespace holdfast::exec_server {
namespace {

// Returns as many of the words as process/list shows: enough to recognise the command or the rules.
std::vector<std::string> Shorten(const std::vector<std::string>& words) {
  constexpr size_t kMaxBytes = 4096;
  std::vector<std::string> shown;
  size_t left = kMaxBytes;
  for (const std::string& word : words) {
    if (left == 0) break;
    shown.push_back(word.substr(0, left));
    left -= std::min(left, word.size() + 1);
  }
  return shown;
}

// Returns what process/list says about a process from its start on.
wire::ListedProcess DescriptionOf(const std::string& id, const StartRequest& request) {
  wire::ListedProcess listed;
  listed.process_id = id;
  listed.argv = Shorten(request.command.argv);
  listed.cwd = FileUri(request.command.cwd);
  if (request.sandbox) listed.sandbox = sandbox::SummaryOf(*request.sandbox);
  if (request.supervision) listed.rules = Shorten(request.supervision->files);
  return listed;
}

size_t BytesOf(const std::vector<std::string>& words) {
  size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size() + 3;  // the quotes and a comma
  return bytes;
}

int64_t Milliseconds(process::Process::WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

wire::ProcessState StateOf(const process::Process& process) {
  if (process.closed()) return wire::ProcessState::kClosed;
  if (process.exit_code()) return wire::ProcessState::kExited;
  return process.phase() == process::Process::Phase::kStarting ? wire::ProcessState::kStarting
                                                               : wire::ProcessState::kRunning;
}

// Logs a warning if the temporary directory of the command cannot be used. A worker checks the directory, and nothing
// waits for the worker, because the check blocks if the file system of the directory does not respond.
void LogTemporaryDirectory(const ProcessResources& resources, const StartRequest& request) {
  auto asked = resources.sandboxed.program.TemporaryDirectoryOf(request.command, *request.sandbox);
  if (!asked) return;
  const auto answer = std::make_shared<Result<std::string>>();
  auto look = [answer, asked = *std::move(asked)] { *answer = sandbox::ResolveTemporaryDirectory(asked); };
  resources.workers.Run(std::move(look), [answer] {
    if (!*answer) LogWarn("sandbox.no_tmpdir", {{"why", answer->error().message}});
  });
}

void LogStart(const std::string& session_id, const std::string& process_id, const process::Process& process) {
  const auto& [backend, reason] = process.enforcement();
  if (backend.empty()) {
    return LogDebug("process.started", {{"session", session_id}, {"process", process_id}, {"pid", *process.pid()}});
  }
  LogDebug("process.started", {{"session", session_id},
                               {"process", process_id},
                               {"pid", *process.pid()},
                               {"backend", backend},
                               {"reason", reason}});
}

}  // namespace

// The sandbox type says that the client asked for a sandbox, even if its profile restricts nothing; clients expect
// that.
ManagedProcess::ManagedProcess(const Context& context, std::string id, const StartRequest& request, StartReply reply)
    : context_(context),
      id_(std::move(id)),
      description_(DescriptionOf(id_, request)),
      sandbox_type_(request.sandbox ? wire::SandboxType::kLinuxSeccomp : wire::SandboxType::kNone),
      confined_(request.sandbox && request.sandbox->restricts()),
      start_reply_(std::move(reply)),
      approver_(context.resources.loop, {.link = context.link, .driver_changed = context.driver_changed}, id_,
                std::chrono::milliseconds(context.resources.config.approval_timeout_ms)) {
  wire::AppendString(quoted_id_, id_);
}

Result<> ManagedProcess::Start(const StartRequest& request) {
  const ProcessResources& resources = context_.resources;
  if (request.supervision) {
    if (const auto supervised = Supervise(request); !supervised) return RefuseStart(supervised.error());
  }
  auto started = confined_ || supervision_ ? StartSandboxed(request) : StartPlainly(request);
  if (!started) return RefuseStart(started.error());
  process_ = *std::move(started);
  ending_.emplace(resources.loop, *process_,
                  ProcessEnding::Limits{.wall = request.wall_limit,
                                        .grace = std::chrono::milliseconds(resources.config.shutdown_grace_period_ms)});
  if (confined_) LogTemporaryDirectory(resources, request);
  return {};
}

// A supervised command without a sandbox has the helper in front of it too, which submits it to the supervisor.
Result<std::unique_ptr<process::Process>> ManagedProcess::StartSandboxed(const StartRequest& request) {
  const ProcessResources& resources = context_.resources;
  sandbox::SandboxSpec no_sandbox;
  no_sandbox.profile.type = sandbox::ProfileType::kDisabled;
  no_sandbox.policy_cwd = request.command.cwd;
  auto start = sandbox::SandboxedStart::Of(resources.sandboxed,
                                           {.session_id = context_.session_id,
                                            .command = request.command,
                                            .sandbox = request.sandbox.value_or(no_sandbox),
                                            .io = request.io,
                                            .exec_supervisor = supervision_ ? supervision_->helper_socket() : nullptr});
  return process::Process::Start(resources.loop, std::move(start), request.io, Limits(), *this);
}

Result<std::unique_ptr<process::Process>> ManagedProcess::StartPlainly(const StartRequest& request) {
  const ProcessResources& resources = context_.resources;
  return process::Process::Start(resources.loop, resources.spawner, request.command, request.io, Limits(), *this);
}

process::OutputLimits ManagedProcess::Limits() const {
  const Config& config = context_.resources.config;
  return {config.retained_output_bytes_per_process, config.retained_chunks_per_process,
          config.snapshot_bytes_per_stream};
}

Result<> ManagedProcess::Supervise(const StartRequest& request) {
  const ProcessResources& resources = context_.resources;
  TRY(supervision_, escalate::Supervision::Create(resources.loop, resources.spawner, approver_,
                                                  {.policy = request.supervision->policy,
                                                   .names = exec_policy::ProgramNames::kResolvedPath,
                                                   .strictness = request.supervision->strictness,
                                                   .environment = request.command.env}));
  return {};
}

// Answers a start that failed before there was a keeper. The keeper finds out that a program or directory is missing; a
// failure before that is always one of this machine, so its kind is kSystem.
Result<> ManagedProcess::RefuseStart(const Error& why) {
  Error error{ErrorKind::kSystem, why.message};
  AnswerFailure(error);
  return std::unexpected(std::move(error));
}

void ManagedProcess::OnStarted(process::Process& process) {
  (*start_reply_)(wire::ProcessStartResult{.process_id = id_, .sandbox_type = sandbox_type_});
  start_reply_.reset();
  LogStart(context_.session_id, id_, process);
  ending_->OnStarted();
  Announce([&] { return wire::StartedNotification(quoted_id_, *process.pid()); });
  context_.owner.OnNews(*this);
  process.ResumeOutput();
  changed_.Notify();
}

void ManagedProcess::OnStartFailed(process::Process&, const Error& error) {
  AnswerFailure(error);
  context_.owner.OnFailed(*this, error);
  changed_.Notify();
}

void ManagedProcess::AnswerFailure(const Error& error) {
  LogDebug("process.failed", {{"session", context_.session_id}, {"process", id_}, {"reason", error.message}});
  start_reply_->Fail(error);
  start_reply_.reset();
  Announce([&] { return wire::FailedNotification(quoted_id_, error.message); });
}

void ManagedProcess::Announce(const std::function<std::string()>& message) const {
  if (context_.link.client().lifecycle == Lifecycle::kAnnounced) context_.link.Send(message());
}

void ManagedProcess::OnOutput(process::Process&, const process::Chunk& chunk) {
  if (context_.link.is_open()) {  // a client that comes back later reads the retained output
    context_.link.Send(wire::OutputNotification(quoted_id_, chunk.seq, ToWire(chunk.stream), chunk.bytes));
  }
  TellOthers();
}

void ManagedProcess::OnExited(process::Process& process, uint64_t seq) {
  LogDebug("process.exited", {{"session", context_.session_id}, {"process", id_}, {"code", *process.exit_code()}});
  sandbox_denied_ = confined_ && sandbox::LooksDenied(*process.exit_code(), process.log());
  context_.owner.OnExited(*this);
  exit_seq_ = seq;
  context_.link.Send(wire::ExitedNotification(quoted_id_, DescribeExit(seq)));
  TellOthers();
}

void ManagedProcess::OnClosed(process::Process&, uint64_t seq) {
  write_ids_ = {};  // writes have no effect from here on
  close_seq_ = seq;
  context_.link.Send(wire::ClosedNotification(quoted_id_, seq));
  context_.owner.OnClosed(*this);
  TellOthers();
}

// Tells the observers of the session first, then the requests that wait.
void ManagedProcess::TellOthers() {
  context_.owner.OnNews(*this);
  changed_.Notify();
}

void ManagedProcess::OnGone(process::Process&) {
  ending_->OnGone();
  supervision_.reset();  // kills the commands that run outside of the sandbox for this process
  context_.owner.OnGone(*this);
}

NumberedEvents ManagedProcess::events() const {
  return {.log = process_->log(), .next_seq = process_->next_seq(), .exit_seq = exit_seq_, .close_seq = close_seq_};
}

wire::Exit ManagedProcess::DescribeExit(uint64_t seq) const {
  return {.seq = seq, .exit_code = *process_->exit_code(), .sandbox_denied = sandbox_denied_, .end = ending_->end()};
}

FinishedProcess ManagedProcess::Finished() const {
  return {.id = id_,
          .pid = process_->pid(),
          .exit = exit_seq_ ? std::optional(DescribeExit(*exit_seq_)) : std::nullopt,
          .next_seq = process_->next_seq(),
          .close_seq = close_seq_};
}

size_t ManagedProcess::retained_bytes() const {
  constexpr size_t kRecordBytes = 4096;  // a generous estimate for the objects themselves
  return kRecordBytes + 2 * id_.size() + process_->log().bytes() + described_bytes();
}

bool ManagedProcess::WantsOutput() const { return !context_.link.is_congested(); }

size_t ManagedProcess::described_bytes() const {
  constexpr size_t kNamesAndNumbers = 300;
  size_t bytes = kNamesAndNumbers + id_.size() + BytesOf(description_.argv) + description_.cwd->size();
  if (description_.sandbox) bytes += BytesOf(description_.sandbox->write) + BytesOf(description_.sandbox->deny);
  if (description_.rules) bytes += BytesOf(*description_.rules);
  return bytes;
}

wire::ListedProcess ManagedProcess::Describe() const {
  wire::ListedProcess listed = description_;
  if (!starting()) listed.pid = process_->pid();
  listed.state = StateOf(*process_);
  listed.exit_code = process_->exit_code();
  listed.end = ending_->end();
  listed.started_at_ms = Milliseconds(process_->started_at());
  if (auto exited = process_->exited_at(); exited && process_->exit_code()) listed.exited_at_ms = Milliseconds(*exited);
  if (const auto signal = process_->end_signal()) listed.signal = sys::NameOfSignal(*signal);
  listed.output_bytes = process_->output_bytes();
  listed.input_bytes = process_->input_bytes();
  return listed;
}

}  // namespace holdfast::exec_server
