#include "sandbox/jail/placeholder_reaper.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "sandbox/confine/confinement.h"
#include "sandbox/jail/control_socket.h"
#include "sandbox/jail/placeholder_files.h"
#include "sys/descriptor_passing.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/signals.h"
#include "sys/spawn.h"
#include "sys/thread.h"

namespace holdfast::sandbox {
namespace {

using Kind = ReaperMessage::Kind;

constexpr int kMaxClosingThreads = 16;

// Separates the reaper from the helper: it holds nothing of the caller's open, and no signal that is meant for the
// command ends it. It also gets a session of its own, unless the helper has made it the leader of a group before.
void Detach(int socket) {
  ::setsid();
  sys::BlockSignals();
  (void)PassOnly(std::array{socket});  // after a failure some descriptors stay open, which does no harm here
  ::close_range(STDIN_FILENO, STDERR_FILENO, 0);
  (void)::chdir("/");
}

class Reaper {
 public:
  Reaper(const std::vector<Placeholder>& wanted, OwnedFd socket, AtEndOfSocket at_end)
      : wanted_(wanted), socket_(std::move(socket)), at_end_(at_end) {}

  void Run() {
    Detach(socket_.get());
    if (at_end_ == AtEndOfSocket::kKill) (void)commands_[0];  // its placeholders may be there before any message is
    while (socket_.is_open() || !commands_.empty()) Step();
  }

 private:
  struct Locked {
    OwnedFd fd;
    bool is_made = false;
  };
  struct Command {
    OwnedFd process, control;
    std::map<uint32_t, Locked> locked;
  };
  using Commands = std::map<uint32_t, Command>;

  // Messages are read before the ends of processes are looked at, because the last message of a command tells more.
  void Step() {
    std::vector<pollfd> ready = {{.fd = socket_.get(), .events = POLLIN, .revents = 0}};
    for (const auto& [number, command] : commands_) ready.push_back({command.process.get(), POLLIN, 0});
    if (::poll(ready.data(), ready.size(), -1) < 0) return;
    if (ready.front().revents != 0) return Receive();
    size_t at = 1;
    for (auto command = commands_.begin(); command != commands_.end(); ++at) {
      const auto next = std::next(command);
      if (ready[at].revents != 0) Finish(command);
      command = next;
    }
  }

  void Receive() {
    ReaperMessage message{};
    auto received = sys::ReceiveWithDescriptors(socket_.get(), {reinterpret_cast<char*>(&message), sizeof message});
    if (!received || received->size != sizeof message) return OnEndOfSocket();
    const auto command = commands_.try_emplace(message.command).first;
    switch (message.kind) {
      case Kind::kProcess:
        if (!received->fds.empty()) command->second.process = std::move(received->fds[0]);
        if (received->fds.size() > 1) command->second.control = std::move(received->fds[1]);
        break;
      case Kind::kUsed:
        for (size_t i = 0; i < std::min({size_t{message.used_count}, message.used.size(), received->fds.size()}); ++i) {
          const auto [index, is_made] = message.used[i];
          command->second.locked[index] = {std::move(received->fds[i]), is_made != 0};
        }
        break;
      case Kind::kEnded:
        Finish(command, message.wait_status);
        break;
      case Kind::kRemoved:
        commands_.erase(command);
        socket_.Reset();
    }
  }

  // The reaper of a helper has one command, and no other to go on with. The helper waits for the end of the socket,
  // which tells that everything is removed that can be.
  void FinishAndClose(Commands::iterator command) {
    UsedPlaceholders left = Find(command->second);
    UsedPlaceholders removed = RemoveUnused(left);
    socket_.Reset();
    removed.clear();
    AwaitOthers(left);
    commands_.erase(command);
  }

  // The helper has been killed, or the launcher has ended. Nothing is removed while a command may be alive; the next
  // sandbox that needs the placeholders removes them.
  void OnEndOfSocket() {
    socket_.Reset();
    if (at_end_ == AtEndOfSocket::kAwait) {
      std::erase_if(commands_, [](const auto& known) { return !known.second.process.is_open(); });
      return;
    }
    for (auto& [number, command] : commands_) {
      if (command.process.is_open() && !sys::KillAndAwaitEnd(command.process.get())) continue;
      UsedPlaceholders all = Find(command);
      RemoveSoon(all);
      (void)RemoveUnused(all);
      AwaitOthers(all);
    }
    commands_.clear();
  }

  // Removes the placeholders of a command. If its status is known, the server is told of it, before anything else that
  // may take long is done.
  void Finish(Commands::iterator command, std::optional<int> wait_status = std::nullopt) {
    if (at_end_ == AtEndOfSocket::kKill) return FinishAndClose(command);
    UsedPlaceholders left = Find(command->second);
    UsedPlaceholders removed = RemoveUnused(left);
    const int control = command->second.control.get();
    if (wait_status && control >= 0) (void)ControlSocket(control).Send(process::KeeperEventKind::kExited, *wait_status);
    CloseElsewhere(std::move(removed));
    AwaitElsewhere(std::move(left));
    commands_.erase(command);
  }

  // Closes on a thread of its own, because the reaper has to go on with the other commands.
  static void CloseElsewhere(UsedPlaceholders removed) {
    static std::atomic<int> threads = 0;
    if (removed.empty() || threads >= kMaxClosingThreads) return;  // closed here
    ++threads;
    const auto started = sys::StartThread("closer", [removed = std::move(removed)]() mutable {
      removed.clear();
      --threads;
    });
    if (!started) --threads;  // closed already, with the function
  }

  UsedPlaceholders Find(Command& command) {
    UsedPlaceholders all;
    for (uint32_t index = 0; index < wanted_.size(); ++index) {
      Locked& locked = command.locked[index];
      auto used = FindPlaceholder(wanted_[index], index, std::move(locked.fd), locked.is_made);
      if (used) all.push_back(*std::move(used));
    }
    return all;
  }

  // Waits in a process of its own, because the reaper has to go on with the other commands. The process holds none of
  // the reaper's descriptors open: the helper waits for the end of the socket, and the server for that of the control
  // sockets, while any process can make this one wait. It allocates and frees no memory: a thread of the reaper may
  // hold the lock of the allocator when it is made.
  void AwaitElsewhere(UsedPlaceholders left) {
    if (left.empty()) return;
    auto in_child = [this, &left] {
      CloseAll();
      AwaitOthers(left);
      return 0;
    };
    (void)sys::Spawn(sys::Sharing::kNothing, in_child);  // without it the placeholders stay, as after a killed reaper
  }

  void CloseAll() {
    socket_.Reset();
    for (auto& [number, command] : commands_) {
      command.process.Reset();
      command.control.Reset();
      for (auto& [index, locked] : command.locked) locked.fd.Reset();
    }
  }

  const std::vector<Placeholder>& wanted_;
  OwnedFd socket_;
  const AtEndOfSocket at_end_;
  Commands commands_;
};

}  // namespace

// The reaper has a process group of its own, so that it survives when the process group of the helper is killed.
Result<> StartReaper(const std::vector<Placeholder>& wanted, OwnedFd socket, AtEndOfSocket at_end) {
  auto in_child = [&] {
    (void)std::signal(SIGCHLD, SIG_IGN);  // the kernel reaps the processes that wait
    Reaper(wanted, std::move(socket), at_end).Run();
    return 0;
  };
  TRY(const pid_t reaper, sys::Spawn(sys::Sharing::kNothing, in_child));
  ::setpgid(reaper, reaper);
  return {};
}

// The message is written as to a file, because the filter of pid 1 has rules about messages of sockets.
bool TellEnded(const ReapedCommand& command, int wait_status) {
  if (command.reaper < 0) return false;
  const ReaperMessage message{.kind = Kind::kEnded, .command = command.number, .wait_status = wait_status};
  return sys::Write(command.reaper, &message, sizeof message) == sizeof message;
}

}  // namespace holdfast::sandbox
