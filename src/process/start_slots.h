// A start slot is a low descriptor number, one for each start that is under way. A keeper is cloned on the server's own
// descriptor table, so that thousands of open descriptors need not be copied. It leaves that table with the low numbers
// only, so its end of the control socket must be among them. Everything else comes through that socket.
//
// A free slot is occupied by a copy of /dev/null, so that no other thread opens a descriptor with its number.
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
  // Every slot is below this number. The kernel copies whole words of 64 descriptors: if the end were in the middle of
  // a word, it would also copy, and close again, the descriptors above it.
  static constexpr int kEnd = 64;

  // Occupies every number below kEnd that is free.
  static Result<std::unique_ptr<StartSlots>> Create();

  // Puts a copy of `fd` into a free slot, or into one whose keeper has left the table. Returns false if there is none.
  bool Occupy(StartSlot& slot, int fd);

  // Frees the slots of keepers that have left the table, or have ended before they left it.
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

  OwnedFd dev_null_;
  std::vector<Entry> entries_;
};

// A StartSlot is the hold of one start on a slot. It must not be moved, because the keeper records in it, in the
// server's memory, that it has left the table.
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
