// The entry point of the helper, which runs before libc is started. With the native backend root's helper has to run
// from a read-only mount of its own file (sandbox/own_image.h), so it is executed twice. The start of libc takes
// time, so the first execution ends here, without libc: this code makes the mount, and executes the helper from it with
// --program-fd, which names the mount. It does so for every backend, because the choice of the backend needs libc.
//
// Where anything fails, the helper starts as usual, and makes a copy of itself in memory where it needs one.
//
// This code must not call any function. The addresses of some, such as memcpy, are set by libc when it starts.
#include <fcntl.h>
#include <linux/mount.h>

#include "sys/raw.h"

namespace {

namespace raw = holdfast::sys::raw;

constexpr char kOwnImage[] = "/proc/self/exe";
constexpr char kProgramFd[] = "--program-fd", kProgramDirectory[] = "--program-dir";
constexpr unsigned long kLongestPath = 4096;
constexpr int kLastStream = 2;

// Text is built in a buffer that has room for it.
struct Text {
  char* end;

  HOLDFAST_RAW void Add(const char* text) {
    while (*text != '\0') *end++ = *text++;
    *end = '\0';
  }
  HOLDFAST_RAW void Add(int number) {
    int place = 1;
    while (number / place >= 10) place *= 10;
    for (; place > 0; place /= 10) *end++ = static_cast<char>('0' + (number / place % 10));
    *end = '\0';
  }
};

// Returns whether `word` is the flag, alone or with its value.
HOLDFAST_RAW bool IsFlag(const char* word, const char* flag) {
  while (*flag != '\0' && *word == *flag) ++word, ++flag;
  return *flag == '\0' && (*word == '\0' || *word == '=');
}

HOLDFAST_RAW bool IsEndOfFlags(const char* word) { return word[0] == '-' && word[1] == '-' && word[2] == '\0'; }

// Two kinds of processes run from the right file already: the inner stage, whose command line has no flags, and a
// helper with --program-fd.
HOLDFAST_RAW bool NeedsMount(long argc, char** argv) {
  if (argc < 2 || argv[1][0] != '-') return false;
  for (long i = 1; i < argc && !IsEndOfFlags(argv[i]); ++i) {
    if (IsFlag(argv[i], kProgramFd)) return false;
  }
  return raw::Syscall(__NR_geteuid) == 0;
}

// Returns the file of this program on a read-only mount that is attached nowhere, or -1. The descriptor is inherited.
HOLDFAST_RAW int OpenOnReadOnlyMount() {
  const long mount = raw::Syscall(__NR_open_tree, AT_FDCWD, raw::Address(kOwnImage), OPEN_TREE_CLONE);
  if (mount < 0) return -1;
  mount_attr attributes = {};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  const long set = raw::Syscall(__NR_mount_setattr, mount, raw::Address(""), AT_EMPTY_PATH, raw::Address(&attributes),
                                sizeof attributes);
  // Descriptors 0, 1 and 2 are the streams of the command, even where they are closed.
  if (set == 0 && mount > kLastStream) return static_cast<int>(mount);
  raw::Close(static_cast<int>(mount));
  return -1;
}

// Removes the last component of a path, but not the root. Returns false if the path does not begin at the root.
HOLDFAST_RAW bool CutToDirectory(char* path, long size) {
  if (size < 1 || path[0] != '/') return false;
  while (size > 1 && path[size - 1] != '/') --size;
  path[size > 1 ? size - 1 : 1] = '\0';
  return true;
}

}  // namespace

// `stack` is what the kernel has put there: argc, the arguments, a null pointer and the environment. The function
// returns if the helper shall start as usual. Its flags come first, so that a directory which the caller names wins.
extern "C" [[gnu::visibility("hidden"), gnu::used]] void HoldfastExecuteFromOwnMount(long* stack) {
  const long argc = stack[0];
  char** const argv = reinterpret_cast<char**>(stack + 1);
  if (!NeedsMount(argc, argv)) return;
  char path[kLongestPath];
  const long size =
      raw::Syscall(__NR_readlink, raw::Address(kOwnImage), raw::Address(path), static_cast<long>(sizeof path) - 1);
  if (!CutToDirectory(path, size)) return;
  const int program = OpenOnReadOnlyMount();
  if (program < 0) return;
  char program_flag[sizeof kProgramFd + 16], directory_flag[sizeof kProgramDirectory + kLongestPath + 1];
  Text text{program_flag};
  text.Add(kProgramFd), text.Add("="), text.Add(program);
  text = {directory_flag};
  text.Add(kProgramDirectory), text.Add("="), text.Add(path);
  char** const words = static_cast<char**>(__builtin_alloca(sizeof(char*) * static_cast<unsigned long>(argc + 3)));
  words[0] = argv[0], words[1] = program_flag, words[2] = directory_flag;
  for (long i = 1; i <= argc; ++i) words[i + 2] = argv[i];  // with the null pointer at the end
  raw::Syscall(__NR_execveat, program, raw::Address(""), raw::Address(words), raw::Address(argv + argc + 1),
               AT_EMPTY_PATH);
  raw::Close(program);
}

// The entry point itself keeps the stack and rdx, which libc's entry point expects to find as the kernel or the dynamic
// loader has left them.
asm(".globl holdfast_entry\n"
    ".hidden holdfast_entry\n"
    "holdfast_entry:\n\t"
    "mov %rsp, %rdi\n\t"
    "push %rdx\n\t"
    "push %rdx\n\t"
    "call HoldfastExecuteFromOwnMount\n\t"
    "pop %rdx\n\t"
    "pop %rdx\n\t"
    "jmp _start\n");
