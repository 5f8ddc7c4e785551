// The surroundings are the targets of acts: files around a workspace, and sockets, memory and processes of a host.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>

#include "base/owned_fd.h"
#include "sandboxee/act.h"
#include "sandboxee/launch.h"
#include "support/scratch_dir.h"

namespace holdfast::sandboxee {

using Places = std::map<std::string, std::string, std::less<>>;  // the texts that {names} in the tables stand for

std::string Fill(std::string_view text, const Places& places);

// Tree has a workspace {ws} with repositories, a worktree {tree} whose repository is in {store}, and {out} beside them.
class Tree {
 public:
  explicit Tree(uid_t owner);

  const Places& places() const { return places_; }
  const std::string& path() const { return root_.path(); }

  // Returns a description of everything that no policy of the tables lets an act change, with the times of the last
  // change, and of files that must not be there.
  std::string Protected() const;

  // Opens the descriptor that an act inherits.
  OwnedFd Open(Passed passed) const;

 private:
  support::ScratchDir root_;
  Places places_;
};

// Neighbours are sockets, a FIFO, shared memory and a process of the same user. They notice what reaches them.
class Neighbours {
 public:
  explicit Neighbours(uid_t user);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  const Places& places() const { return places_; }

  // Returns a text about what has arrived since the last call; empty if nothing has.
  std::string Heard();

 private:
  support::ScratchDir directory_;
  std::string mark_;
  OwnedFd stream_, abstract_, datagram_, tcp_, udp_, fifo_, shared_file_;
  int segment_, queue_;
  char* shared_ = nullptr;
  Sleeper sleeper_;
  Places places_;
};

}  // namespace holdfast::sandboxee
