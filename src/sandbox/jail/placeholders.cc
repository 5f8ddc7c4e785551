#include "sandbox/jail/placeholders.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "sys/descriptor_passing.h"
#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

using Kind = ReaperMessage::Kind;

Result<> Tell(int reaper, const ReaperMessage& message, int fd) {
  TRY_VOID(sys::SendWithDescriptor(reaper, message.bytes(), fd));
  return {};
}

// Makes all placeholders. The reaper gets each of them at once: if this process is killed, bubblewrap goes on for a
// while, and the placeholder must still be marked as used.
Result<> MakeAll(const std::vector<Placeholder>& wanted, UsedPlaceholders& used, int reaper, uint32_t command) {
  PlaceholderRetries retries;
  for (uint32_t index = 0; index < wanted.size(); ++index) {
    TRY_VOID(AcquirePlaceholder(wanted[index], index, used, retries));
    if (used.empty() || used.back().index != index) continue;
    const UsedPlaceholder& made = used.back();
    const ReaperMessage message{
        .kind = Kind::kUsed, .command = command, .index = index, .is_made = made.is_made ? 1u : 0u};
    TRY_VOID(Tell(reaper, message, made.itself.get()));
  }
  return {};
}

}  // namespace

Placeholders::Placeholders(Placeholders&&) noexcept = default;

Result<Placeholders> Placeholders::Prepare(std::vector<Placeholder> wanted) {
  Placeholders placeholders(std::move(wanted));
  if (placeholders.wanted_.empty()) return placeholders;
  TRY(sys::SocketPair pair, sys::MakeSocketPair(sys::SocketKind::kPacket));
  placeholders.reaper_ = std::move(pair.ours);
  placeholders.reaper_end_ = std::move(pair.theirs);
  TRY_VOID(sys::LetInherit(placeholders.reaper_.get()));
  return placeholders;
}

Result<> Placeholders::StartOwnReaper() { return StartReaper(wanted_, std::move(reaper_end_), AtEndOfSocket::kKill); }

Result<> Placeholders::Make() {
  if (wanted_.empty()) return {};
  TRY_VOID(StartOwnReaper());
  return MakeAll(wanted_, used_, reaper_.get(), 0);
}

Result<> Placeholders::LeaveToReaper() {
  if (wanted_.empty()) return {};
  left_to_reaper_ = true;
  return StartOwnReaper();
}

Result<> Placeholders::KeepUntilEndOf(int pidfd) {
  return reaper_.is_open() ? Tell(reaper_.get(), {.kind = Kind::kProcess}, pidfd) : Result<>();
}

// A message fails only when the reaper is gone, which does no harm.
Placeholders::~Placeholders() {
  if (!reaper_.is_open()) return;
  if (left_to_reaper_) {
    (void)sys::SendAll(reaper_.get(), ReaperMessage{.kind = Kind::kEnded}.bytes());
    char nothing;
    (void)sys::Read(reaper_.get(), &nothing, 1);  // until the reaper has closed its end
    return;
  }
  (void)RemoveUnused(used_);
  if (used_.empty()) (void)sys::SendAll(reaper_.get(), ReaperMessage{.kind = Kind::kRemoved}.bytes());
  ::shutdown(reaper_.get(), SHUT_WR);  // closing is not enough: other processes have copies
}

Result<UsedPlaceholders> MakeAsFirstProcess(const std::vector<Placeholder>& wanted, const ReapedCommand& command) {
  UsedPlaceholders used;
  if (wanted.empty()) return used;
  TRY(const OwnedFd self, sys::OpenPidfd(::getpid()));
  TRY_VOID(Tell(command.reaper, {.kind = Kind::kProcess, .command = command.number}, self.get()));
  if (command.control >= 0) {
    TRY_VOID(Tell(command.reaper, {.kind = Kind::kControl, .command = command.number}, command.control));
  }
  TRY_VOID(MakeAll(wanted, used, command.reaper, command.number));
  return used;
}

}  // namespace holdfast::sandbox
