#include "escalate/outside/outside_command.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "escalate/outside/kept_command.h"
#include "escalate/outside/starter_image.h"
#include "escalate/outside/starter_order.h"
#include "escalate/stub/protocol.h"
#include "process/command/command.h"
#include "sys/descriptor_passing.h"
#include "sys/executable_image.h"
#include "sys/io.h"
#include "sys/memory_file.h"

namespace holdfast::escalate {
namespace {

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
