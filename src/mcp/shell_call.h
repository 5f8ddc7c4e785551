// A ShellCall is one call of the tool `shell`: a shell with everything that it starts, from the request to the moment
// when none of these processes is alive. The answer is sent then, or after some seconds. The time limit, a cancellation
// and the end of the shell all end the rest in the same way: what runs inside of the sandbox is killed, and then what
// runs outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "escalate/approver.h"
#include "loop/event_loop.h"
#include "mcp/elicitation.h"
#include "mcp/interceptor.h"
#include "mcp/messages/methods.h"
#include "mcp/shell_output.h"
#include "mcp/stopwatch.h"
#include "process/process.h"
#include "process/process_owner.h"
#include "rpc/peer.h"
#include "rpc/reply.h"

namespace holdfast::mcp {

// The objects that a call uses. They outlive it.
struct ShellCallContext {
  loop::EventLoop& loop;
  const StartInSandbox& start;
  Interceptor& interceptor;
  rpc::Peer& peer;
  Elicitation elicitation = Elicitation::kUnsupported;
};

class ShellCall final : private process::ProcessOwner, private escalate::Approver {
 public:
  // Called once, when nothing of the call is alive and it may be destroyed, but not inside this function.
  using OnEnd = std::function<void(ShellCall&)>;

  ShellCall(const ShellCallContext& context, std::chrono::milliseconds limit,
            std::optional<wire::RawJson> progress_token, rpc::Reply<CallToolResult> reply, OnEnd on_end);

  // If the command cannot be started, the call is answered with the reason, and OnEnd follows.
  void Start(const process::Command& command, const sandbox::SandboxSpec& sandbox);

  // Kills the command. The client gets no answer.
  void Cancel();

  // The request that is not answered yet; nothing once it is answered or cancelled.
  std::optional<rpc::RequestId> open_request() const;

 private:
  using Clock = Stopwatch::Clock;
  class Pause;

  loop::Task<escalate::Answer> Ask(escalate::Question question) override;

  void OnStarted(process::Process& process) override { process.ResumeOutput(); }
  void OnStartFailed(process::Process& process, const Error& error) override;
  void OnOutput(process::Process& process, const process::Chunk& chunk) override;
  void OnExited(process::Process& process, uint64_t seq) override;
  void OnClosed(process::Process&, uint64_t) override {}
  void OnGone(process::Process& process) override;
  bool WantsOutput() const override { return true; }

  Result<> TryStart(const process::Command& command, const sandbox::SandboxSpec& sandbox);
  void WatchTime();
  void OnTime();
  void EndRest();
  void SendProgress();
  void Answer();
  ShellResult MakeResult() const;

  const ShellCallContext context_;
  const std::optional<wire::RawJson> progress_token_;
  const OnEnd on_end_;
  const Clock::time_point started_ = Clock::now();
  Stopwatch stopwatch_;
  std::optional<rpc::Reply<CallToolResult>> reply_;  // empty once it is answered or withdrawn
  ShellOutput output_;
  ProgressText progress_;
  uint64_t progress_sent_ = 0;  // the number in the last notification
  std::optional<Error> start_error_;
  std::optional<int> exit_code_;
  bool timed_out_ = false, ending_ = false;
  loop::Timer time_limit_, progress_timer_;
  std::unique_ptr<process::Process> process_;
  std::unique_ptr<Interception> interception_;  // asks questions, whose tasks use the members above
};

}  // namespace holdfast::mcp
