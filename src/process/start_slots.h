// Low descriptor numbers, one for each start that is under way. A keeper is cloned on the server's own table of
// descriptors, so that thousands of open ones need not be copied, and leaves it by taking along the low numbers only:
// its end of the control socket has to be among them. Everything else comes through that socket.
//
// The numbers are held with a placeholder while they are free, so that no other thread's descriptor gets one.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"

namespace holdfast::process {

class StartSlot;

class StartSlots {
 public:
  // Every slot is below. The kernel copies whole words of 64 descriptors: with an end in the middle of one it would
  // also copy, and close again, descriptors above.
  static constexpr int kEnd = 64;

  // Takes every number below kEnd that is free.
  static Result<std::unique_ptr<StartSlots>> Create();

  // Puts a copy of `fd` into a free slot, or into one whose keeper has left the table. False when there is none.
  bool Occupy(StartSlot& slot, int fd);

  // Frees the slots of keepers that have left the table, or have ended before they did.
  void FreeUnused();

 private:
  friend class StartSlot;

  struct Entry {
    OwnedFd fd;
    StartSlot* user = nullptr;
  };

  StartSlots() = default;
  Entry* FindFree();
  void Free(Entry& entry) const;

  OwnedFd placeholder_;
  std::vector<Entry> entries_;
};

// One start's hold on a slot; it must stay where it is. The keeper says in the server's memory that it has left.
class StartSlot {
 public:
  StartSlot() = default;
  ~StartSlot() { Free(); }
  StartSlot(const StartSlot&) = delete;
  StartSlot& operator=(const StartSlot&) = delete;

  void Free();
  bool held() const { return entry_ != nullptr; }
  int number() const { return entry_->fd.get(); }

  pid_t keeper = 0;
  int keeper_has_left = 0;  // written by the keeper

 private:
  friend class StartSlots;

  StartSlots* slots_ = nullptr;
  StartSlots::Entry* entry_ = nullptr;
};

}  // namespace holdfast::process
