#include "escalate/outside/outside_command.h"

#include <sys/types.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/owned_fd.h"
#include "base/result.h"
#include "escalate/outside/starter_image.h"
#include "escalate/stub/protocol.h"
#include "loop/event_loop.h"
#include "process/command/command.h"
#include "process/keeper.h"
#include "process/spawner.h"
#include "sys/descriptor_passing.h"
#include "sys/executable_image.h"
#include "sys/exit_codes.h"
#include "sys/io.h"
#include "sys/memory_file.h"

namespace holdfast::escalate {
namespace {

// A text of the starter's order, which consists of bytes.
class Bytes {
 public:
  void AddRaw(const void* bytes, size_t size) { text_.append(static_cast<const char*>(bytes), size); }

  Result<> AddString(std::string_view string) {
    if (string.contains('\0')) return Fail(ErrorKind::kInvalidRequest, "a text of the command contains a NUL byte");
    text_.append(string).push_back('\0');
    return {};
  }

  Result<> AddStrings(std::span<const std::string> strings) {
    for (const std::string& string : strings) TRY_VOID(AddString(string));
    return {};
  }

  size_t size() const { return text_.size(); }
  void Write(size_t at, const StarterOrder& header) { std::memcpy(text_.data() + at, &header, sizeof header); }
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

static_assert(RLIM_NLIMITS <= kMaxLimits);

void AddLimits(std::span<const rlimit> limits, StarterOrder& header) {
  for (const rlimit& limit : limits.first(std::min<size_t>(limits.size(), kMaxLimits))) {
    header.limits[header.limit_count++] = {.soft = limit.rlim_cur, .hard = limit.rlim_max};
  }
}

// The descriptors of the order are sorted by their numbers. Fails if a text has a NUL, which would end it early and
// make its rest another text.
Result<std::string> EncodeStarterOrder(const OutsideOrder& order) {
  StarterOrder header{.state = order.state,
                      .fd_count = static_cast<unsigned>(order.fds.size()),
                      .limit_count = 0,
                      .limits = {},
                      .image = {.argument_count = static_cast<unsigned>(order.argv.size()),
                                .variable_count = static_cast<unsigned>(order.environment.size()),
                                .bytes = 0}};
  AddLimits(order.limits, header);
  Bytes bytes;
  bytes.AddRaw(&header, sizeof header);
  for (const PassedFd& passed : order.fds) bytes.AddRaw(&passed.number, sizeof passed.number);
  const size_t image_begin = bytes.size();
  TRY_VOID(bytes.AddString(order.path));
  TRY_VOID(bytes.AddStrings(order.argv));
  TRY_VOID(bytes.AddStrings(order.environment));
  header.image.bytes = bytes.size() - image_begin;
  bytes.Write(0, header);
  return std::move(bytes).Take();
}

// A KeptCommand is a command outside together with its keeper. It outlives its OutsideCommand: after Abandon, the
// spawner owns it until no process of the command is left.
class KeptCommand final : public std::enable_shared_from_this<KeptCommand>, private process::CommandObserver {
 public:
  // `starter` is the server's end of the starter's socket.
  KeptCommand(loop::EventLoop& loop, process::Spawner& spawner, process::StartedKeeper started, OwnedFd starter,
              OutsideObserver& observer);

  void Signal(int signal);

  // Kills everything. There are no further calls of the observer.
  void Abandon();

 private:
  void OnStarted(pid_t) override {}
  void OnStartFailed(process::StartStep step, int errno_value) override;
  void OnStopped(int signal, unsigned continue_count) override;
  void OnExited(int wait_status) override;
  void OnGone() override;
  void OnSignalsInPlace();
  void End(const Ending& ending);
  void PostRelease();

  loop::EventLoop& loop_;
  process::Spawner& spawner_;
  OutsideObserver* observer_;  // null after its last call
  OwnedFd starter_;
  std::optional<loop::FdWatch> starter_watch_;  // present until the command's signal mask is in place
  std::vector<int> waiting_signals_;            // empty from then on
  process::Keeper keeper_;
  bool is_gone_ = false, is_abandoned_ = false;
};

Ending EndingOf(int wait_status) {
  if (WIFSIGNALED(wait_status)) return {.signal = WTERMSIG(wait_status)};
  return {.exit_code = WEXITSTATUS(wait_status)};
}

KeptCommand::KeptCommand(loop::EventLoop& loop, process::Spawner& spawner, process::StartedKeeper started,
                         OwnedFd starter, OutsideObserver& observer)
    : loop_(loop),
      spawner_(spawner),
      observer_(&observer),
      starter_(std::move(starter)),
      starter_watch_(std::in_place, loop, starter_.get(), [this] { OnSignalsInPlace(); }),
      keeper_(loop, spawner, std::move(started), static_cast<process::CommandObserver&>(*this)) {
  starter_watch_->WatchReadable();
}

// A signal that comes too early would kill the starter, although the command blocks or ignores it.
void KeptCommand::Signal(int signal) {
  if (starter_watch_) {
    waiting_signals_.push_back(signal);
  } else {
    keeper_.Signal(signal);
  }
}

// The starter sends nothing; it closes the socket.
void KeptCommand::OnSignalsInPlace() {
  starter_watch_.reset();
  starter_.Reset();
  for (const int signal : std::exchange(waiting_signals_, {})) keeper_.Signal(signal);
}

void KeptCommand::Abandon() {
  observer_ = nullptr;
  is_abandoned_ = true;
  spawner_.Adopt(shared_from_this());
  is_gone_ ? PostRelease() : keeper_.KillAll();
}

// The keeper has not executed the starter. The failures of the starter itself are exit codes.
void KeptCommand::OnStartFailed(process::StartStep, int errno_value) {
  End({.exit_code = sys::kCannotExecute, .reason = "start outside of the sandbox: " + ErrnoText(errno_value)});
}

void KeptCommand::OnStopped(int signal, unsigned continue_count) {
  if (observer_ != nullptr) observer_->OnStopped(signal, continue_count);
}

void KeptCommand::OnExited(int wait_status) {
  keeper_.KillAll();
  End(EndingOf(wait_status));
}

// A keeper that was killed has not reported an exit, and the kernel has killed the command with it.
void KeptCommand::OnGone() {
  is_gone_ = true;
  if (is_abandoned_) return PostRelease();
  End({.signal = SIGKILL});
}

void KeptCommand::End(const Ending& ending) {
  OutsideObserver* const observer = std::exchange(observer_, nullptr);
  if (observer != nullptr) observer->OnEnded(ending);
}

// The keeper calls OnGone, and cannot be destroyed by its own call.
void KeptCommand::PostRelease() {
  loop_.Post([weak = weak_from_this()] {
    if (const auto command = weak.lock()) command->spawner_.Release(command.get());
  });
}

constexpr const char* kStarterName = "holdfast-exec-starter";

static_assert(kStarterProgramFd == process::Wrapper::kFirstFd);
static_assert(kStarterSocketFd < process::Wrapper::kFirstFd + static_cast<int>(process::Wrapper::kMaxFds));
static_assert(kMaxStarterFds <= sys::kMaxPassedFds);

class StartedCommand final : public OutsideCommand {
 public:
  explicit StartedCommand(std::shared_ptr<KeptCommand> command) : command_(std::move(command)) {}
  ~StartedCommand() override { command_->Abandon(); }

  void Signal(int signal) override { command_->Signal(signal); }

 private:
  std::shared_ptr<KeptCommand> command_;
};

// Puts the descriptors into the socket. The socket does not block: an order whose descriptors have no room fails.
Result<> SendDescriptors(int socket, std::span<const PassedFd> passed) {
  while (!passed.empty()) {
    const size_t count = std::min(passed.size(), static_cast<size_t>(kMaxStarterFds));
    std::vector<int> fds;
    for (const PassedFd& one : passed.first(count)) fds.push_back(one.fd.get());
    TRY_VOID(sys::SendDescriptors(socket, fds));
    passed = passed.subspan(count);
  }
  return {};
}

std::shared_ptr<const OwnedFd> Share(OwnedFd fd) { return std::make_shared<const OwnedFd>(std::move(fd)); }

// Returns the command that runs the starter, with its descriptors from kStarterProgramFd on.
Result<process::Command> StarterCommand(OwnedFd order, std::shared_ptr<const OwnedFd> directory, OwnedFd socket) {
  TRY(OwnedFd program, sys::MakeExecutableImage(kStarterName, StarterImage()));
  return process::Command{.program = fmt::format("/proc/self/fd/{}", kStarterProgramFd),
                          .argv = {kStarterName},
                          .cwd = "/",
                          .wrapper = process::Wrapper{.fds = {Share(std::move(program)), Share(std::move(order)),
                                                              std::move(directory), Share(std::move(socket))},
                                                      .report = nullptr},
                          .stops = process::Stops::kReported};
}

}  // namespace

Result<std::unique_ptr<OutsideCommand>> OutsideCommand::Start(loop::EventLoop& loop, process::Spawner& spawner,
                                                              OutsideOrder order, OutsideObserver& observer) {
  CHECK(order.directory != nullptr);
  std::ranges::sort(order.fds, {}, &PassedFd::number);
  TRY(const std::string bytes, EncodeStarterOrder(order));
  TRY(OwnedFd file, sys::MakeMemoryFile("holdfast-outside-order", bytes));
  TRY(sys::SocketPair socket, sys::MakePacketPair());
  TRY_VOID(SendDescriptors(socket.ours.get(), order.fds));
  const int any = file.get();  // the starter closes its standard streams; every descriptor would do for them
  TRY(const process::Command command,
      StarterCommand(std::move(file), std::move(order.directory), std::move(socket.theirs)));
  TRY(process::StartedKeeper started, spawner.Start(command, process::Pipes{}, {any, any, any}));
  return std::make_unique<StartedCommand>(
      std::make_shared<KeptCommand>(loop, spawner, std::move(started), std::move(socket.ours), observer));
}

}  // namespace holdfast::escalate
