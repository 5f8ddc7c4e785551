#include "sandbox/jail/placeholders.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "sys/descriptor_passing.h"
#include "sys/inherit.h"
#include "sys/io.h"
#include "sys/pidfd.h"
#include "sys/socket_pair.h"

namespace holdfast::sandbox {
namespace {

using Kind = ReaperMessage::Kind;

Result<> Tell(int reaper, const ReaperMessage& message, std::span<const int> fds) {
  TRY_VOID(sys::SendWithDescriptors(reaper, message.bytes(), fds));
  return {};
}

// Gives the reaper the placeholders, with as few messages as possible: each wakes it up, which takes time here.
Result<> TellUsed(int reaper, uint32_t command, std::span<const UsedPlaceholder> used) {
  while (!used.empty()) {
    const auto part = used.first(std::min(used.size(), ReaperMessage::kMostUsed));
    ReaperMessage message{.kind = Kind::kUsed, .command = command, .used_count = static_cast<uint32_t>(part.size())};
    std::array<int, ReaperMessage::kMostUsed> fds;
    for (size_t i = 0; i < part.size(); ++i) {
      message.used[i] = {.index = part[i].index, .is_made = part[i].is_made ? 1u : 0u};
      fds[i] = part[i].itself.get();
    }
    TRY_VOID(Tell(reaper, message, std::span(fds).first(part.size())));
    used = used.subspan(part.size());
  }
  return {};
}

Result<> AcquireAll(const std::vector<Placeholder>& wanted, UsedPlaceholders& used) {
  PlaceholderRetries retries;
  for (uint32_t index = 0; index < wanted.size(); ++index) {
    TRY_VOID(AcquirePlaceholder(wanted[index], index, used, retries));
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

// The reaper gets each placeholder at once: if this process is killed, bubblewrap goes on for a while, and the
// placeholder must still be marked as used.
Result<> Placeholders::Make() {
  if (wanted_.empty()) return {};
  TRY_VOID(StartOwnReaper());
  PlaceholderRetries retries;
  for (uint32_t index = 0; index < wanted_.size(); ++index) {
    const size_t before = used_.size();
    TRY_VOID(AcquirePlaceholder(wanted_[index], index, used_, retries));
    TRY_VOID(TellUsed(reaper_.get(), 0, std::span(used_).subspan(before)));
  }
  return {};
}

Result<> Placeholders::LeaveToReaper() {
  if (wanted_.empty()) return {};
  left_to_reaper_ = true;
  return StartOwnReaper();
}

Result<> Placeholders::KeepUntilEndOf(int pidfd) {
  return reaper_.is_open() ? Tell(reaper_.get(), {.kind = Kind::kProcess}, {&pidfd, 1}) : Result<>();
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

// The reaper knows pid 1 before any placeholder is there, so it finds those of a pid 1 that is killed here by their
// names.
Result<UsedPlaceholders> MakeAsFirstProcess(const std::vector<Placeholder>& wanted, const ReapedCommand& command) {
  UsedPlaceholders used;
  if (wanted.empty()) return used;
  TRY(const OwnedFd self, sys::OpenPidfd(::getpid()));
  const std::array fds = {self.get(), command.control};
  TRY_VOID(Tell(command.reaper, {.kind = Kind::kProcess, .command = command.number},
                std::span(fds).first(command.control >= 0 ? 2 : 1)));
  const auto acquired = AcquireAll(wanted, used);
  TRY_VOID(TellUsed(command.reaper, command.number, used));
  TRY_VOID(acquired);
  return used;
}

}  // namespace holdfast::sandbox
