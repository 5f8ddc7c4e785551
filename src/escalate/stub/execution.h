// The execution of a program from an Image, and the failure of it. The header is usable without libc.
#pragma once

#include <asm/unistd.h>
#include <sys/uio.h>

#include <cerrno>

#include "escalate/stub/protocol.h"
#include "sys/exit_codes.h"
#include "sys/raw.h"

namespace holdfast::escalate {

// Returns fresh memory, aligned for everything, or null. It is never freed.
inline char* Allocate(unsigned long bytes) {
  const long alignment = 16;
  const long end = sys::raw::Syscall(__NR_brk, 0);
  const long begin = (end + alignment - 1) & -alignment;
  const long wanted = begin + static_cast<long>(bytes);
  if (sys::raw::Syscall(__NR_brk, wanted) < wanted) return nullptr;
  return reinterpret_cast<char*>(begin);  // NOLINT(performance-no-int-to-ptr): the kernel returns addresses as numbers
}

enum class Reading { kComplete, kFailed };

// Reads exactly `size` bytes of a file, beginning at `at`.
inline Reading ReadAt(int fd, void* to, unsigned long size, unsigned long at) {
  for (unsigned long done = 0; done < size;) {
    const long n = sys::raw::Syscall(__NR_pread64, fd, sys::raw::Address(static_cast<char*>(to) + done),
                                     static_cast<long>(size - done), static_cast<long>(at + done));
    if (n == -EINTR) continue;
    if (n <= 0) return Reading::kFailed;
    done += static_cast<unsigned long>(n);
  }
  return Reading::kComplete;
}

inline unsigned long LengthOf(const char* text) {
  unsigned long length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

// The number of pointers that Execute needs for the arguments and the variables.
inline unsigned long PointerCount(const Image& image) {
  return static_cast<unsigned long>(image.argument_count) + image.variable_count + 2;
}

// Writes pointers to `count` strings, and a null pointer. Returns the end of the strings.
inline const char* PointTo(const char* strings, unsigned count, const char** pointers) {
  for (unsigned i = 0; i < count; ++i) {
    pointers[i] = strings;
    strings += LengthOf(strings) + 1;
  }
  pointers[count] = nullptr;
  return strings;
}

// Executes the program whose strings begin with its path. Returns the error as an errno.
inline int Execute(const Image& image, const char* strings, const char** pointers) {
  const char** const variables = pointers + image.argument_count + 1;
  const char* const arguments = strings + LengthOf(strings) + 1;
  PointTo(PointTo(arguments, image.argument_count, pointers), image.variable_count, variables);
  return static_cast<int>(-sys::raw::Syscall(__NR_execve, sys::raw::Address(strings), sys::raw::Address(pointers),
                                             sys::raw::Address(variables)));
}

// Returns the C library's text for the errors that chdir and execve usually have.
inline const char* TextOf(int error) {
  switch (error) {
    case EPERM:
      return "Operation not permitted";
    case ENOENT:
      return "No such file or directory";
    case EIO:
      return "Input/output error";
    case E2BIG:
      return "Argument list too long";
    case ENOEXEC:
      return "Exec format error";
    case ENOMEM:
      return "Cannot allocate memory";
    case EACCES:
      return "Permission denied";
    case ENOTDIR:
      return "Not a directory";
    case EISDIR:
      return "Is a directory";
    case EMFILE:
      return "Too many open files";
    case ETXTBSY:
      return "Text file busy";
    case ENAMETOOLONG:
      return "File name too long";
    case ELOOP:
      return "Too many levels of symbolic links";
    default:
      return "Cannot execute";
  }
}

// Ends the program after a failure, with a line on standard error: `prefix`, `what` and the reason.
[[noreturn]] inline void Fail(const char* prefix, const char* what, int error, int exit_code) {
  const char* const parts[] = {prefix, what, ": ", TextOf(error), "\n"};
  iovec line[5];
  for (int i = 0; i < 5; ++i) line[i] = {const_cast<char*>(parts[i]), LengthOf(parts[i])};
  sys::raw::Syscall(__NR_writev, 2, sys::raw::Address(line), 5);
  sys::raw::Exit(exit_code);
}

[[noreturn]] inline void FailExecution(const char* path, int error) { Fail("", path, error, sys::ExitCodeFor(error)); }

}  // namespace holdfast::escalate
