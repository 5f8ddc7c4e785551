#include "process/start_slots.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "sys/io.h"

namespace holdfast::process {
namespace {

bool HasLeft(const StartSlot& slot) { return __atomic_load_n(&slot.keeper_has_left, __ATOMIC_ACQUIRE) != 0; }

bool HasEnded(pid_t keeper) {
  siginfo_t info = {};
  const int result = ::waitid(P_PID, static_cast<id_t>(keeper), &info, WEXITED | WNOHANG | WNOWAIT | __WALL);
  return result < 0 || info.si_pid != 0;
}

}  // namespace

Result<std::unique_ptr<StartSlots>> StartSlots::Create() {
  std::unique_ptr<StartSlots> slots(new StartSlots);
  TRY(slots->dev_null_, sys::OpenDevNull());
  for (;;) {
    TRY(OwnedFd fd, sys::Duplicate(slots->dev_null_.get()));
    if (fd.get() >= kEnd) return slots;
    slots->entries_.push_back({.fd = std::move(fd)});
  }
}

StartSlots::Entry* StartSlots::FindFree() {
  const auto free = std::ranges::find(entries_, nullptr, &Entry::user);
  return free != entries_.end() ? &*free : nullptr;
}

bool StartSlots::Occupy(StartSlot& slot, int fd) {
  Entry* entry = FindFree();
  if (entry == nullptr) {
    for (Entry& used : entries_) {
      if (HasLeft(*used.user)) used.user->Free();
    }
    entry = FindFree();
  }
  if (entry == nullptr || ::dup3(fd, entry->fd.get(), O_CLOEXEC) < 0) return false;
  entry->user = &slot;
  slot.slots_ = this;
  slot.entry_ = entry;
  return true;
}

void StartSlots::FreeUnused() {
  for (Entry& entry : entries_) {
    StartSlot* const user = entry.user;
    if (user != nullptr && (HasLeft(*user) || HasEnded(user->keeper))) user->Free();
  }
}

void StartSlots::Free(Entry& entry) const {
  entry.user = nullptr;
  // dup3 fails only for a bad descriptor, or if a thread of the server opens a file with this number at this moment. No
  // thread does, because the number is occupied.
  const int result = ::dup3(dev_null_.get(), entry.fd.get(), O_CLOEXEC);
  CHECK(result >= 0 || errno == EINTR || errno == EBUSY);
}

void StartSlot::Free() {
  if (entry_ == nullptr) return;
  slots_->Free(*entry_);
  slots_ = nullptr;
  entry_ = nullptr;
}

}  // namespace holdfast::process
