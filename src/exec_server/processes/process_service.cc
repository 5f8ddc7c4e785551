#include "exec_server/processes/process_service.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "base/base64.h"
#include "exec_server/processes/managed_process.h"
#include "exec_server/processes/start_command.h"
#include "exec_server/processes/wire_stream.h"
#include "loop/event.h"
#include "rpc/answer_within.h"
#include "sys/signal_name.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxWriteIdBytes = 1024;
constexpr uint64_t kLongestGraceMs = 60 * 60 * 1000;
constexpr uint64_t kLongestWaitMs = 1000ull * 60 * 60 * 24 * 365;
constexpr size_t kMaxListed = 10'000;   // with the longest ids and arguments, the answer has some 50 MiB
constexpr auto kStartPatience = 250ms;  // the time that process/terminate gives a start before it cancels it

wire::ProcessReadResult ReadNow(const ManagedProcess& managed, const wire::ProcessReadParams& params) {
  const process::Process& process = managed.process();
  wire::ProcessReadResult result;
  auto chunks = process.log().ReadAfter(params.after_seq.value_or(0), params.max_bytes.value_or(SIZE_MAX));
  for (const process::Chunk* chunk : chunks)
    result.chunks.push_back({chunk->seq, ToWire(chunk->stream), {chunk->bytes}});
  // A client that limited the bytes goes on after the last chunk that it got. Without a limit it has everything, and
  // the numbers of the exit and the close too.
  result.next_seq = params.max_bytes && !chunks.empty() ? chunks.back()->seq + 1 : process.next_seq();
  result.exited = process.exit_code().has_value();
  result.exit_code = process.exit_code();
  result.closed = process.closed();
  result.sandbox_denied = managed.sandbox_denied();
  result.end = managed.ending().end();
  if (const auto& dropped = process.log().dropped(); dropped.last_seq > 0) {
    result.dropped = {.seq = dropped.last_seq, .bytes = dropped.bytes};
  }
  return result;
}

bool HasNews(const process::Process& process, uint64_t after_seq) {
  if (process.closed() || !process.log().ReadAfter(after_seq, 0).empty()) return true;
  return process.exit_code() && after_seq < process.next_seq() - 1;
}

Result<int> SignalNumber(const std::string& name) {
  if (name == "interrupt") return SIGINT;
  if (auto number = sys::SignalByName(name)) return *number;
  return Fail(ErrorKind::kInvalidParams, fmt::format("signal: unknown signal {}", name));
}

Result<> CheckWriteId(const std::optional<std::string>& id) {
  if (id && id->empty()) return Fail(ErrorKind::kInvalidParams, "writeId: is empty");
  if (id && id->size() > kMaxWriteIdBytes) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("writeId: longer than {} bytes", kMaxWriteIdBytes));
  }
  return {};
}

// Returns the status of a write to a process that has been started, before the bytes are looked at.
wire::WriteStatus StatusFor(ManagedProcess& process) {
  if (!process.process().has_input()) return wire::WriteStatus::kStdinClosed;
  process::StdinQueue* input = process.process().input();
  bool closed = process.running() && (input == nullptr || !input->is_open());
  return closed ? wire::WriteStatus::kStdinClosed : wire::WriteStatus::kAccepted;
}

// Ends a process that has been started. Clients send process/terminate without a mode after every exit, and that must
// not kill what the command has left running on purpose; with a mode, the request kills that too. The answer is sent
// when nothing of the process is alive.
void TerminateStarted(process::Process& process, const std::optional<wire::TerminateMode>& mode,
                      rpc::Reply<wire::ProcessTerminateResult> reply) {
  const bool running = !process.exit_code();
  if (!running && !mode) return reply({false});
  auto done = [reply = std::move(reply), running]() mutable { reply({running}); };
  if (!mode || !mode->graceful_timeout_ms) return process.Kill(std::move(done));
  process.Terminate(std::chrono::milliseconds(std::min(*mode->graceful_timeout_ms, kLongestGraceMs)), std::move(done));
}

std::optional<std::chrono::milliseconds> Limit(const std::optional<uint64_t>& wait_ms) {
  if (!wait_ms) return std::nullopt;
  return std::chrono::milliseconds(std::min(*wait_ms, kLongestWaitMs));
}

Error UnknownProcess(const std::string& process_id) {
  return {ErrorKind::kInvalidRequest, fmt::format("unknown process {}", process_id)};
}

struct Input {
  std::string process_id;
  std::optional<std::string> write_id;
  process::StdinQueue::Sender sender;
  std::string bytes;
};

loop::Task<> WriteInput(SessionProcesses& processes, Input written, rpc::Reply<wire::ProcessWriteResult> reply) {
  const auto process = co_await processes.FindSettled(written.process_id);
  if (!process) co_return reply({wire::WriteStatus::kUnknownProcess});
  const wire::WriteStatus status = StatusFor(*process);
  process::StdinQueue* const input = process->process().input();
  if (status != wire::WriteStatus::kAccepted || input == nullptr) co_return reply({status});
  if (written.write_id && !process->write_ids().Remember(*written.write_id)) co_return reply({status});
  auto written_or_dropped = [process, write_id = written.write_id, reply = std::move(reply)](auto outcome) mutable {
    if (outcome == process::StdinQueue::Outcome::kAccepted) return reply({wire::WriteStatus::kAccepted});
    // A write is dropped if its connection ends first. The client will send it again, and then it must be accepted.
    if (write_id) process->write_ids().Forget(*write_id);
    reply.Fail({ErrorKind::kInvalidRequest, "the write was dropped, because its connection ended"});
  };
  input->Write(written.sender, std::move(written.bytes), std::move(written_or_dropped));
}

loop::Task<> CloseInput(SessionProcesses& processes, std::string process_id, rpc::Reply<wire::Empty> reply) {
  const auto process = co_await processes.FindSettled(process_id);
  if (!process) co_return reply.Fail(UnknownProcess(process_id));
  if (process::StdinQueue* input = process->process().input()) input->CloseAfterQueued();
  reply(wire::Empty{});
}

loop::Task<> ResizeTerminal(SessionProcesses& processes, std::string process_id, sys::WindowSize size,
                            rpc::Reply<wire::Empty> reply) {
  const auto process = co_await processes.FindSettled(process_id);
  if (!process) co_return reply.Fail(UnknownProcess(process_id));
  const auto resized = process->process().Resize(size);
  if (!resized) co_return reply.Fail(resized.error());
  reply(wire::Empty{});
}

// Sends the signal. An unknown or finished process is not an error, because it does not run any more, as the client
// wanted.
loop::Task<> SendSignal(SessionProcesses& processes, std::string process_id, int number,
                        rpc::Reply<wire::Empty> reply) {
  const auto process = co_await processes.FindSettled(process_id);
  if (process) process->process().Signal(number);
  reply(wire::Empty{});
}

// Waits for a start under way, because the client sent it first, and then ends the process. A start that hangs is
// cancelled, which also ends the process.
loop::Task<> TerminateSettled(SessionProcesses& processes, std::string process_id,
                              std::optional<wire::TerminateMode> mode, rpc::Reply<wire::ProcessTerminateResult> reply) {
  co_await processes.AwaitRequest(process_id);
  const auto process = processes.Find(process_id);
  if (!process) co_return reply({false});
  process->process().CancelSlowStart(kStartPatience);
  while (process->starting()) co_await process->changed().Next();
  if (process->process().phase() == process::Process::Phase::kFailed) co_return reply({process->process().killing()});
  TerminateStarted(process->process(), mode, std::move(reply));
}

loop::Task<> TakeSnapshot(SessionProcesses& processes, std::string process_id,
                          rpc::Reply<wire::ProcessSnapshotResult> reply) {
  const auto process = co_await processes.FindSettled(process_id);
  if (!process) co_return reply.Fail(UnknownProcess(process_id));
  process::Snapshot snapshot = process->process().log().TakeSnapshot();
  wire::ProcessSnapshotResult result;
  result.out = {snapshot.out};
  result.err = {snapshot.err};
  result.terminal = {snapshot.terminal};
  result.omitted_bytes = snapshot.omitted_bytes;
  result.truncated = snapshot.omitted_bytes > 0;
  result.running = process->running();
  result.exit_code = process->process().exit_code();
  reply(result);
}

wire::ProcessListResult Listed(const SessionProcesses& processes) {
  wire::ProcessListResult result;
  for (const auto& [id, process] : processes.by_name()) {
    if (result.processes.size() >= kMaxListed) {
      result.truncated = true;
      break;
    }
    result.processes.push_back(process->Describe());
  }
  return result;
}

// Landlock makes no user namespace. Without privileges the supervisor then cannot distinguish its stub from a program
// of the command that can be executed and not read (escalate/seccomp/stub_program.h).
Result<> CheckStrict(const StartRequest& request, const wire::ExecPolicy& wanted) {
  if (!wanted.strict || !request.sandbox || !request.sandbox->legacy_landlock || ::geteuid() == 0) return {};
  return Fail(ErrorKind::kInvalidParams,
              "execPolicy: strict rules need a sandbox with namespaces, or a server that runs as root");
}

}  // namespace

void ProcessService::Start(SessionProcesses& processes, const wire::ProcessStartParams& params,
                           rpc::Reply<wire::ProcessStartResult> reply) {
  const auto request = ResolveStart(params, config_, surroundings_.environment, surroundings_.command_path);
  if (!request) return reply.Fail(request.error());
  if (!params.exec_policy) return processes.Start(params.process_id, *request, std::move(reply));
  if (const auto strict = CheckStrict(*request, *params.exec_policy); !strict) return reply.Fail(strict.error());
  processes.StartLater(params.process_id, AddExecPolicy(*request, *params.exec_policy), std::move(reply));
}

// Reading the rules may block, so a worker does it.
loop::Task<Result<StartRequest>> ProcessService::AddExecPolicy(StartRequest request, wire::ExecPolicy wanted) {
  auto policy = co_await rules_.Load(wanted.rules);
  if (!policy) co_return std::unexpected(std::move(policy).error());
  using escalate::Strictness;
  request.supervision = {.policy = *std::move(policy),
                         .files = std::move(wanted.rules),
                         .strictness = wanted.strict ? Strictness::kStrict : Strictness::kUsual};
  co_return std::move(request);
}

void ProcessService::Read(ProcessRequests& requests, const wire::ProcessReadParams& params,
                          rpc::Reply<wire::ProcessReadResult> reply) {
  requests.StartPoll(ReadWhenThere(requests.processes(), params, std::move(reply)));
}

loop::Task<> ProcessService::ReadWhenThere(SessionProcesses& processes, wire::ProcessReadParams params,
                                           rpc::Reply<wire::ProcessReadResult> reply) {
  const auto process = co_await processes.FindSettled(params.process_id);
  if (!process) co_return reply.Fail(UnknownProcess(params.process_id));
  loop::Deadline deadline(loop_, Limit(params.wait_ms.value_or(0)));
  while (!HasNews(process->process(), params.after_seq.value_or(0)) && !deadline.passed()) {
    co_await process->changed().NextBefore(deadline);
  }
  reply(ReadNow(*process, params));
}

void ProcessService::Wait(ProcessRequests& requests, const wire::ProcessWaitParams& params,
                          rpc::Reply<wire::ProcessWaitResult> reply) {
  requests.StartPoll(WaitForExit(requests.processes(), params, std::move(reply)));
}

loop::Task<> ProcessService::WaitForExit(SessionProcesses& processes, wire::ProcessWaitParams params,
                                         rpc::Reply<wire::ProcessWaitResult> reply) {
  const auto managed = co_await processes.FindSettled(params.process_id);
  if (!managed) co_return reply.Fail(UnknownProcess(params.process_id));
  const process::Process& process = managed->process();
  loop::Deadline deadline(loop_, Limit(params.timeout_ms));
  while (!process.exit_code() && !deadline.passed()) co_await managed->changed().NextBefore(deadline);
  wire::ProcessWaitResult result;
  result.exited = process.exit_code().has_value();
  result.exit_code = process.exit_code();
  result.closed = process.closed();
  result.timed_out = !result.exited;
  result.end = managed->ending().end();
  result.sandbox_denied = managed->sandbox_denied();
  reply(result);
}

void ProcessService::Write(ProcessRequests& requests, const wire::ProcessWriteParams& params,
                           rpc::Reply<wire::ProcessWriteResult> reply) {
  if (auto valid = CheckWriteId(params.write_id); !valid) return reply.Fail(valid.error());
  auto bytes = Base64Decode(params.chunk);
  if (!bytes) return reply.Fail({ErrorKind::kInvalidParams, "chunk: " + bytes.error().message});
  Input input{.process_id = params.process_id,
              .write_id = params.write_id,
              .sender = requests.sender(),
              .bytes = *std::move(bytes)};
  requests.processes().StartChange(WriteInput(requests.processes(), std::move(input), std::move(reply)));
}

void ProcessService::CloseStdin(SessionProcesses& processes, const wire::ProcessIdParams& params,
                                rpc::Reply<wire::Empty> reply) {
  processes.StartChange(CloseInput(processes, params.process_id, std::move(reply)));
}

void ProcessService::Resize(SessionProcesses& processes, const wire::ProcessResizeParams& params,
                            rpc::Reply<wire::Empty> reply) {
  const sys::WindowSize size{params.rows, params.cols};
  processes.StartChange(ResizeTerminal(processes, params.process_id, size, std::move(reply)));
}

void ProcessService::Signal(SessionProcesses& processes, const wire::ProcessSignalParams& params,
                            rpc::Reply<wire::Empty> reply) {
  const auto number = SignalNumber(params.signal);
  if (!number) return reply.Fail(number.error());
  processes.StartChange(SendSignal(processes, params.process_id, *number, std::move(reply)));
}

void ProcessService::Terminate(SessionProcesses& processes, const wire::ProcessTerminateParams& params,
                               rpc::Reply<wire::ProcessTerminateResult> reply) {
  processes.StartChange(TerminateSettled(processes, params.process_id, params.mode, std::move(reply)));
}

void ProcessService::Snapshot(ProcessRequests& requests, const wire::ProcessIdParams& params,
                              rpc::Reply<wire::ProcessSnapshotResult> reply) {
  requests.StartPoll(TakeSnapshot(requests.processes(), params.process_id, std::move(reply)));
}

void ProcessService::List(ProcessRequests& requests, const wire::ProcessListParams&,
                          rpc::Reply<wire::ProcessListResult> reply) {
  auto& processes = requests.processes();
  const size_t expected = processes.DescribedBytes(kMaxListed);
  requests.StartPoll(rpc::AnswerWithin(held_, expected, std::move(reply), [&processes] { return Listed(processes); }));
}

}  // namespace holdfast::exec_server
