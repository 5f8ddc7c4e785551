// One attempt of a supervised process to execute a program, copied from its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "escalate/caller/or_errno.h"
#include "escalate/caller/program.h"
#include "escalate/seccomp/listener.h"

namespace holdfast::escalate {

struct Attempt {
  ExecCall call;
  uint64_t path_end = 0;  // the address of the NUL that ends the path
  Program program = {};
  std::vector<std::string> argv = {};
  std::string cwd = {};
  size_t room = 0;  // the bytes that are left for the environment

  size_t held_bytes() const;
};

// Fails with the errno that execve would give, or with EPERM if the process cannot be read. What is read counts only if
// the call still waits afterwards.
OrErrno<Attempt> ReadAttempt(const ExecCall& call);

OrErrno<std::vector<std::string>> ReadEnvironment(const Attempt& attempt);

// Returns whether the call only asks if a program could be executed (AT_EXECVE_CHECK).
bool OnlyChecks(const ExecCall& call);

}  // namespace holdfast::escalate
