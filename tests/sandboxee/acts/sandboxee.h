// How an act ends. Its status is a verdict; of a refusal, the name of the errno is on standard output.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum Verdict { kDone = 0, kRefused = 1, kNotTried = 2 };

inline int Refused(int error) {
  const char* const name = ::strerrorname_np(error);
  std::puts(name != nullptr ? name : "?");
  return kRefused;
}

// By what a system call returned.
inline int Judge(long result) { return result >= 0 ? kDone : Refused(errno); }

// For calls that would do harm. They get arguments that make no sense, and the kernel's complaint about those shows
// that the call came through.
inline int JudgeReached(long result, int complaint) { return result < 0 && errno == complaint ? kDone : Judge(result); }

[[noreturn]] inline void GiveUp(const char* object) {
  std::perror(object);
  std::exit(kNotTried);
}

// An argument of the act, counted from 1.
inline const char* Word(char** argv, int index) {
  for (int i = 1; i <= index; ++i) {
    if (argv[i] != nullptr) continue;
    errno = EINVAL;
    GiveUp("arguments");
  }
  return argv[index];
}

inline long Number(char** argv, int index) { return std::strtol(Word(argv, index), nullptr, 0); }
