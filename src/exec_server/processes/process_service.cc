#include "exec_server/processes/process_service.h"

#include <csignal>

#include <fmt/format.h>

#include "base/base64.h"
#include "exec_server/processes/long_poll.h"
#include "exec_server/processes/start_command.h"
#include "sys/signal_name.h"

namespace holdfast::exec_server {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxWriteIdBytes = 1024;
constexpr uint64_t kLongestGraceMs = 60 * 60 * 1000;
constexpr size_t kMaxListed = 10'000;   // with ids and argv at their longest, some 50 MiB
constexpr auto kStartPatience = 250ms;  // before a terminate cancels a start

wire::ProcessReadResult ReadNow(const ManagedProcess& managed, const wire::ProcessReadParams& params) {
  const process::Process& process = managed.process();
  wire::ProcessReadResult result;
  auto chunks = process.log().ReadAfter(params.after_seq.value_or(0), params.max_bytes.value_or(SIZE_MAX));
  for (const process::Chunk* chunk : chunks)
    result.chunks.push_back({chunk->seq, OnWire(chunk->stream), {chunk->bytes}});
  // With a byte budget the reader goes on after what it got; without one it has everything, exited and closed included.
  result.next_seq = params.max_bytes && !chunks.empty() ? chunks.back()->seq + 1 : process.next_seq();
  result.exited = process.exit_code().has_value();
  result.exit_code = process.exit_code();
  result.closed = process.closed();
  result.sandbox_denied = managed.sandbox_denied();
  return result;
}

bool HasNews(const process::Process& process, uint64_t after_seq) {
  if (process.closed() || !process.log().ReadAfter(after_seq, 0).empty()) return true;
  return process.exit_code() && after_seq < process.next_seq() - 1;
}

Result<int> SignalNumber(const std::string& name) {
  if (name == "interrupt") return SIGINT;
  if (auto number = sys::SignalByName(name)) return *number;
  return Fail(ErrorKind::kInvalidParams, fmt::format("signal: no signal is called {}", name));
}

Result<> CheckWriteId(const std::optional<std::string>& id) {
  if (id && id->empty()) return Fail(ErrorKind::kInvalidParams, "writeId: is empty");
  if (id && id->size() > kMaxWriteIdBytes) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("writeId: longer than {} bytes", kMaxWriteIdBytes));
  }
  return {};
}

// What a process that is alive or was alive says to a write, before the bytes are looked at.
wire::WriteStatus StatusFor(ManagedProcess& process) {
  if (!process.process().has_input()) return wire::WriteStatus::kStdinClosed;
  process::StdinQueue* input = process.process().input();
  bool closed = process.running() && (input == nullptr || !input->is_open());
  return closed ? wire::WriteStatus::kStdinClosed : wire::WriteStatus::kAccepted;
}

// Clients call this after every exit, without a mode: that must not end what a finished command left running on
// purpose. Asked for a mode, it does. The answer comes when nothing of the process is alive.
void TerminateStarted(process::Process& process, const std::optional<wire::TerminateMode>& mode,
                      rpc::Reply<wire::ProcessTerminateResult> reply) {
  const bool running = !process.exit_code();
  if (!running && !mode) return reply({false});
  auto done = [reply = std::move(reply), running]() mutable { reply({running}); };
  if (!mode || !mode->graceful_timeout_ms) return process.Kill(std::move(done));
  process.Terminate(std::chrono::milliseconds(std::min(*mode->graceful_timeout_ms, kLongestGraceMs)), std::move(done));
}

}  // namespace

template <typename T>
void ProcessService::WithProcess(SessionProcesses& processes, const std::string& process_id, rpc::Reply<T> reply,
                                 std::move_only_function<void(std::shared_ptr<ManagedProcess>, rpc::Reply<T>)> use) {
  auto run = [&processes, process_id, reply = std::move(reply), use = std::move(use)]() mutable {
    auto process = processes.Find(process_id);
    if (process) return use(std::move(process), std::move(reply));
    reply.Fail({ErrorKind::kInvalidRequest, fmt::format("no process {}", process_id)});
  };
  processes.WhenSettled(process_id, std::move(run));
}

void ProcessService::Start(SessionProcesses& processes, const wire::ProcessStartParams& params,
                           rpc::Reply<wire::ProcessStartResult> reply) {
  const auto order = ResolveStart(params, config_, surroundings_.environment, surroundings_.command_path);
  if (!order) return reply.Fail(order.error());
  processes.Start(params.process_id, *order, std::move(reply));
}

void ProcessService::Read(SessionProcesses& processes, const wire::ProcessReadParams& params,
                          rpc::Reply<wire::ProcessReadResult> reply) {
  WithProcess<wire::ProcessReadResult>(
      processes, params.process_id, std::move(reply), [this, params](auto process, auto answer) {
        uint64_t wait_ms = params.wait_ms.value_or(0);
        auto ready = [after = params.after_seq.value_or(0)](ManagedProcess& polled) {
          return HasNews(polled.process(), after);
        };
        auto finish = [params, answer = std::move(answer)](ManagedProcess& polled, PollEnd) mutable {
          answer(ReadNow(polled, params));
        };
        PollProcess(loop_, std::move(process), wait_ms, std::move(ready), std::move(finish));
      });
}

void ProcessService::Write(SessionProcesses& processes, const wire::ProcessWriteParams& params,
                           rpc::Reply<wire::ProcessWriteResult> reply) {
  if (auto valid = CheckWriteId(params.write_id); !valid) return reply.Fail(valid.error());
  auto bytes = Base64Decode(params.chunk);
  if (!bytes) return reply.Fail({ErrorKind::kInvalidParams, "chunk: " + bytes.error().message});
  auto write = [&processes, id = params.process_id, write_id = params.write_id, bytes = *std::move(bytes),
                reply = std::move(reply)]() mutable {
    auto process = processes.Find(id);
    if (!process) return reply({wire::WriteStatus::kUnknownProcess});
    wire::WriteStatus status = StatusFor(*process);
    process::StdinQueue* input = process->process().input();
    if (status != wire::WriteStatus::kAccepted || input == nullptr) return reply({status});
    if (write_id && !process->write_ids().Remember(*write_id)) return reply({status});
    input->Write(std::move(bytes), [process, write_id, reply = std::move(reply)](auto verdict) mutable {
      // Dropped because its connection is gone: the client will send it again, and then it must count.
      if (verdict == process::StdinQueue::Verdict::kDropped && write_id) process->write_ids().Forget(*write_id);
      reply({wire::WriteStatus::kAccepted});
    });
  };
  processes.WhenSettled(params.process_id, std::move(write));
}

void ProcessService::CloseStdin(SessionProcesses& processes, const wire::ProcessIdParams& params,
                                rpc::Reply<wire::Empty> reply) {
  WithProcess<wire::Empty>(processes, params.process_id, std::move(reply), [](auto process, auto answer) {
    if (process::StdinQueue* input = process->process().input()) input->CloseAfterQueued();
    answer(wire::Empty{});
  });
}

void ProcessService::Resize(SessionProcesses& processes, const wire::ProcessResizeParams& params,
                            rpc::Reply<wire::Empty> reply) {
  sys::WindowSize size{params.rows, params.cols};
  WithProcess<wire::Empty>(processes, params.process_id, std::move(reply), [size](auto process, auto answer) {
    auto resized = process->process().Resize(size);
    if (!resized) return answer.Fail(resized.error());
    answer(wire::Empty{});
  });
}

// An unknown or finished process cannot be interrupted any more, which is what was wanted: no error.
void ProcessService::Signal(SessionProcesses& processes, const wire::ProcessSignalParams& params,
                            rpc::Reply<wire::Empty> reply) {
  auto number = SignalNumber(params.signal);
  if (!number) return reply.Fail(number.error());
  auto signal = [&processes, id = params.process_id, number = *number, reply = std::move(reply)]() mutable {
    if (auto process = processes.Find(id)) process->process().Signal(number);
    reply(wire::Empty{});
  };
  processes.WhenSettled(params.process_id, std::move(signal));
}

// A start under way comes first, as the client sent it first; one that hangs is cancelled, which also ends the process.
void ProcessService::Terminate(SessionProcesses& processes, const wire::ProcessTerminateParams& params,
                               rpc::Reply<wire::ProcessTerminateResult> reply) {
  auto process = processes.Find(params.process_id);
  if (!process) return reply({false});
  process->process().CancelSlowStart(kStartPatience);
  process->WhenSettled([process, mode = params.mode, reply = std::move(reply)]() mutable {
    if (process->process().phase() == process::Process::Phase::kFailed) return reply({process->process().killing()});
    TerminateStarted(process->process(), mode, std::move(reply));
  });
}

void ProcessService::Wait(SessionProcesses& processes, const wire::ProcessWaitParams& params,
                          rpc::Reply<wire::ProcessWaitResult> reply) {
  auto timeout_ms = params.timeout_ms;
  WithProcess<wire::ProcessWaitResult>(
      processes, params.process_id, std::move(reply), [this, timeout_ms](auto process, auto answer) {
        auto ready = [](ManagedProcess& polled) { return polled.process().exit_code().has_value(); };
        auto finish = [answer = std::move(answer)](ManagedProcess& polled, PollEnd end) mutable {
          const process::Process& state = polled.process();
          wire::ProcessWaitResult result;
          result.exited = state.exit_code().has_value();
          result.exit_code = state.exit_code();
          result.closed = state.closed();
          result.timed_out = end == PollEnd::kTimedOut;
          result.sandbox_denied = polled.sandbox_denied();
          answer(std::move(result));
        };
        PollProcess(loop_, std::move(process), timeout_ms, std::move(ready), std::move(finish));
      });
}

void ProcessService::Snapshot(SessionProcesses& processes, const wire::ProcessIdParams& params,
                              rpc::Reply<wire::ProcessSnapshotResult> reply) {
  WithProcess<wire::ProcessSnapshotResult>(processes, params.process_id, std::move(reply),
                                           [](auto process, auto answer) {
                                             process::Snapshot snapshot = process->process().log().TakeSnapshot();
                                             wire::ProcessSnapshotResult result;
                                             result.out = {snapshot.out};
                                             result.err = {snapshot.err};
                                             result.terminal = {snapshot.terminal};
                                             result.omitted_bytes = snapshot.omitted_bytes;
                                             result.truncated = snapshot.omitted_bytes > 0;
                                             result.running = process->running();
                                             result.exit_code = process->process().exit_code();
                                             answer(std::move(result));
                                           });
}

void ProcessService::List(SessionProcesses& processes, const wire::ProcessListParams&,
                          rpc::Reply<wire::ProcessListResult> reply) {
  wire::ProcessListResult result;
  for (const auto& [id, process] : processes.by_name()) {
    if (result.processes.size() >= kMaxListed) {
      result.truncated = true;
      break;
    }
    result.processes.push_back(process->Describe());
  }
  reply(std::move(result));
}

}  // namespace holdfast::exec_server
