#include "cli/runs/console.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "cli/runs/driver.h"
#include "cli/runs/input_relay.h"
#include "cli/runs/output_relay.h"
#include "cli/runs/signal_relay.h"
#include "cli/runs/wakeup.h"
#include "cli/terminal/raw_mode.h"
#include "cli/terminal/screen.h"
#include "loop/event.h"
#include "loop/scope.h"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kGrace = 2s;     // between SIGTERM and SIGKILL when the time limit is reached
constexpr auto kPatience = 3s;  // for the end of a process that was terminated

class Console {
 public:
  Console(Invocation& invocation, client::ExecServerClient& client, std::shared_ptr<client::Process> process,
          ConsoleOptions options)
      : invocation_(invocation),
        options_(std::move(options)),
        driver_(client, std::move(process)),
        output_(invocation.loop(), driver_.process(), options_.questions, changed_),
        input_(invocation.loop(), driver_, options_.questions, KeysInUse(), changed_),
        signals_(invocation.loop(), driver_, is_terminal() ? SignalRelay::Kind::kTerminal : SignalRelay::Kind::kPipes,
                 changed_) {}

  loop::Task<ConsoleEnd> Run();

 private:
  using How = ConsoleEnd::How;

  bool is_terminal() const {
    return options_.streams == ConsoleOptions::Streams::kTerminal && IsTerminal(STDIN_FILENO);
  }
  std::optional<EscapeKeys> KeysInUse() const { return is_terminal() ? std::optional(options_.keys) : std::nullopt; }
  bool done() const { return output_.finished() || output_.write_error() != 0 || signals_.insisted(); }

  loop::Task<std::optional<ConsoleEnd>> DoAction(EscapeKeys::Action action);
  loop::Task<> Terminate(std::chrono::milliseconds grace);
  loop::Task<ConsoleEnd> GiveUp(int status);
  loop::Task<ConsoleEnd> EndOnTimeLimit();
  loop::Task<ConsoleEnd> Conclude();

  Invocation& invocation_;
  const ConsoleOptions options_;
  Wakeup changed_{invocation_.loop()};
  Driver driver_;
  OutputRelay output_;
  InputRelay input_;
  SignalRelay signals_;
  std::optional<RawMode> raw_mode_;
  loop::Scope scope_;
};

loop::Task<ConsoleEnd> Console::Run() {
  if (is_terminal()) {
    auto raw_mode = RawMode::Enter(STDIN_FILENO);
    if (!raw_mode) co_return ConsoleEnd{How::kLeft, invocation_.Complain(raw_mode.error(), kOwnFailure)};
    raw_mode_.emplace(*std::move(raw_mode));
  }
  output_.Start();
  input_.Start();
  loop::Deadline limit(invocation_.loop(), options_.time_limit);
  while (!done()) {
    const auto woken = co_await changed_.event().NextBefore(limit);
    if (woken == loop::Event::Woken::kByTime && !done()) co_return co_await EndOnTimeLimit();
    if (signals_.TakeContinued()) input_.Wake();
    const auto action = input_.TakeAction();
    if (!action) continue;
    const auto end = co_await DoAction(*action);
    if (end) co_return *end;
  }
  co_return co_await Conclude();
}

loop::Task<std::optional<ConsoleEnd>> Console::DoAction(EscapeKeys::Action action) {
  if (action == EscapeKeys::Action::kStop) {
    raw_mode_->Suspend();
    StopThisProgram();
    const auto raw = raw_mode_->Resume();
    if (!raw) co_return ConsoleEnd{How::kLeft, invocation_.Complain(raw.error(), kOwnFailure)};
    co_return std::nullopt;
  }
  const auto kept = co_await driver_.Keep();
  raw_mode_.reset();
  if (!kept) co_return ConsoleEnd{How::kLeft, invocation_.Complain(kept.error(), kOwnFailure)};
  (void)invocation_.Complain(fmt::format("detached; `holdfast attach {}` comes back", options_.run_name));
  co_return ConsoleEnd{How::kLeft, 0};
}

// The process may have ended meanwhile, so that a failure means nothing.
loop::Task<> Console::Terminate(std::chrono::milliseconds grace) { (void)co_await driver_.Terminate(grace); }

// Ends the process, because nobody wants its output any more.
loop::Task<ConsoleEnd> Console::GiveUp(int status) {
  co_await Terminate(0ms);
  co_return ConsoleEnd{How::kFinished, status};
}

loop::Task<ConsoleEnd> Console::EndOnTimeLimit() {
  // The answer cannot be read while standard output is full, so it is not waited for.
  scope_.Start(Terminate(kGrace));
  loop::Deadline limit(invocation_.loop(), kPatience);
  while (!done() && !limit.passed()) co_await changed_.event().NextBefore(limit);
  raw_mode_.reset();
  co_return ConsoleEnd{How::kFinished,
                       invocation_.Complain("the time limit is reached, and the command was ended", kTimedOut)};
}

loop::Task<ConsoleEnd> Console::Conclude() {
  raw_mode_.reset();
  if (output_.lost_events() > 0) {
    (void)invocation_.Complain(
        fmt::format("{} pieces of output were lost while this program was not connected", output_.lost_events()));
  }
  if (const auto signal = signals_.insisted()) co_return ConsoleEnd{How::kLeft, 128 + *signal};
  if (output_.write_error() == EPIPE) co_return co_await GiveUp(128 + SIGPIPE);
  if (output_.write_error() != 0) {
    const Error error = ErrnoError("write", "standard output", output_.write_error());
    co_return co_await GiveUp(invocation_.Complain(error, kOwnFailure));
  }
  if (output_.failure()) {
    co_return ConsoleEnd{How::kLeft, invocation_.Complain(*output_.failure(), kOwnFailure)};
  }
  const int status = output_.exit() ? static_cast<int>(output_.exit()->exit_code) : kOwnFailure;
  if (output_.exit() && output_.exit()->sandbox_denied)
    (void)invocation_.Complain("the sandbox has denied something to the command");
  co_return ConsoleEnd{How::kFinished, status};
}

}  // namespace

loop::Task<ConsoleEnd> Converse(Invocation& invocation, client::ExecServerClient& client,
                                std::shared_ptr<client::Process> process, ConsoleOptions options) {
  Console console(invocation, client, std::move(process), std::move(options));
  co_return co_await console.Run();
}

}  // namespace holdfast::cli
