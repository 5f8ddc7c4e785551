// A ReceivedEntry is a JailEntry as it has come to the jail, with its descriptors.
#pragma once

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/owned_fd.h"
#include "base/result.h"
#include "sandbox/native/jail_entry.h"

namespace holdfast::sandbox {

class ReceivedEntry {
 public:
  // Waits for the next entry. Returns nothing at the end of the socket. Fails with kInvalidRequest if the message is no
  // entry: its record cannot be read, or it has another number of descriptors, or descriptors of another kind. All of
  // these are closed then, the control socket among them, and the next entry can be received.
  static Result<std::optional<ReceivedEntry>> Receive(int socket);

  // The command; null if the file helper runs.
  const RunCommand* command() const { return std::get_if<RunCommand>(&entry_.task); }

  // Returns the descriptor, or -1 if the entry has none of this kind.
  int Get(EntryFd which) const;

  // The descriptor of the terminal, or -1.
  int terminal() const { return command() != nullptr && command()->has_terminal ? Get(EntryFd::kStdin) : -1; }

 private:
  explicit ReceivedEntry(std::vector<OwnedFd> fds) : fds_(std::move(fds)) {}

  Result<> Read();
  Result<> Check() const;

  JailEntry entry_;
  std::vector<OwnedFd> fds_;
};

}  // namespace holdfast::sandbox
