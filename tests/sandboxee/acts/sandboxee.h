// The exit status of an act tells whether it was done. An act that was refused prints the name of the errno.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum ActStatus { kDone = 0, kRefused = 1, kNotTried = 2 };

inline int Refused(int error) {
  const char* const name = ::strerrorname_np(error);
  std::puts(name != nullptr ? name : "?");
  return kRefused;
}

// Returns the status of an act by what its system call returned.
inline int Judge(long result) { return result >= 0 ? kDone : Refused(errno); }

// Does the same for a call that would do harm. Such a call gets arguments that make no sense, and the kernel's error
// about those, `complaint`, shows that the call was not refused before.
inline int JudgeReached(long result, int complaint) { return result < 0 && errno == complaint ? kDone : Judge(result); }

[[noreturn]] inline void GiveUp(const char* object) {
  std::perror(object);
  std::exit(kNotTried);
}

// Returns an argument of the act, counted from 1.
inline const char* Word(char** argv, int index) {
  for (int i = 1; i <= index; ++i) {
    if (argv[i] != nullptr) continue;
    errno = EINVAL;
    GiveUp("arguments");
  }
  return argv[index];
}

inline long Number(char** argv, int index) { return std::strtol(Word(argv, index), nullptr, 0); }
