// The start of libc in the programs that are linked statically. It takes the place of the start of glibc 2.36, and does
// the same but for one part: it does not ask the processor for its features and caches. The start of glibc executes the
// instruction CPUID 68 times. Each of them traps in a virtual machine, and together they take 0.4 to 0.7 ms there. A
// library may ask for itself: libcrypto does so four to six times where it is linked.
//
// The programs lose a few things by it. memcpy and its relatives use no instructions newer than SSE2, which every
// x86-64 processor has. The programs cannot load shared libraries (dlopen, and so iconv and NSS), the tunables
// glibc.cpu.* have no effect, sysconf does not know the caches, and the main thread must not end by pthread_exit. None
// of them needs any of this.
//
// The functions of glibc that this file calls belong to no interface that is promised to stay. The file is therefore
// for one version of glibc only, and cmake/StaticPrograms.cmake links it only where the checks of tests/libc_start have
// passed at configuration. A program that is linked statically runs with the libc that was checked; only the kernel may
// be another one.
#include <elf.h>
#include <features.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#if !defined(__x86_64__) || !defined(__GLIBC__) || __GLIBC__ != 2 || __GLIBC_MINOR__ != 36
#error "This file is for glibc 2.36 on x86-64."
#endif

// NOLINTBEGIN(readability-identifier-naming, performance-no-int-to-ptr): the names and the numbers are those of glibc
extern "C" {

using Main = int (*)(int, char**, char**);
using Initializer = void (*)(int, char**, char**);
using Finalizer = void (*)();

// These variables and functions are glibc's own, for its start.
extern char** __environ;
extern void* __libc_stack_end;
extern int __libc_enable_secure;
extern size_t _dl_minsigstacksize;
extern const uintptr_t* _dl_random;  // 16 random bytes of the kernel
void _dl_aux_init(Elf64_auxv_t* vector);
void __tunables_init(char** environment);
void _dl_relocate_static_pie();
void __libc_setup_tls();
void __libc_early_init(bool is_initial);
void __libc_init_first(int argc, char** argv, char** environment);
void __libc_check_standard_fds();
void* _dl_debug_initialize(Elf64_Addr base, long name_space);  // for debuggers
int __cxa_atexit(void (*function)(void*), void* argument, void* library);

// The linker and the start files of the compiler provide these.
[[gnu::weak, gnu::visibility("hidden")]] extern const Elf64_Rela __rela_iplt_start[], __rela_iplt_end[];
extern const Initializer __preinit_array_start[], __preinit_array_end[], __init_array_start[], __init_array_end[];
extern const Finalizer __fini_array_start[], __fini_array_end[];
void _init();
void _fini();

// The sizes by which memcpy and memset choose how to copy. glibc defines them beside its start, and computes them from
// the caches of the processor. The sizes of the caches are those that it begins with, and the two limits are three
// quarters of the shared cache, as it computes them.
constexpr long kDataCache = 32 << 10, kSharedCache = 1 << 20, kFromHereOnPastCaches = kSharedCache / 4 * 3;
constexpr long kLeastForRepeatedMove = 2048;
[[gnu::used]] long __x86_data_cache_size = kDataCache;
[[gnu::used]] long __x86_data_cache_size_half = kDataCache / 2;
[[gnu::used]] long __x86_shared_cache_size = kSharedCache;
[[gnu::used]] long __x86_shared_cache_size_half = kSharedCache / 2;
[[gnu::used]] long __x86_shared_non_temporal_threshold = kFromHereOnPastCaches;
[[gnu::used]] long __x86_rep_movsb_threshold = kLeastForRepeatedMove;
[[gnu::used]] long __x86_rep_stosb_threshold = kLeastForRepeatedMove;
[[gnu::used]] long __x86_rep_movsb_stop_threshold = kFromHereOnPastCaches;
[[gnu::used]] int __x86_string_control = 0;
}

namespace {

// Kernels before 5.14 do not tell how much of the stack a signal takes, and libc would ask the processor.
constexpr size_t kLargestSignalFrame = 16 << 10;

// Code that runs before the guards are set, or while they are, must not have a guard on its own stack.
#define BEFORE_GUARDS [[gnu::no_stack_protector]]

// Chooses the variant of each function that has several. A choice reads the features of the processor, which are all
// zero here, and so it falls on the variant for any processor.
BEFORE_GUARDS void ChooseVariants() {
  using Choice = Elf64_Addr (*)();
  for (const Elf64_Rela* place = __rela_iplt_start; place < __rela_iplt_end; ++place) {
    *reinterpret_cast<Elf64_Addr*>(place->r_offset) = reinterpret_cast<Choice>(place->r_addend)();
  }
}

// The guard of the stack has a zero byte, at which a copy of a string ends. The other guard is for pointers that libc
// keeps in memory. Both are at fixed places of the thread's block, which the compiler and libc know.
BEFORE_GUARDS void SetGuards() {
  constexpr uintptr_t kAllButFirstByte = ~uintptr_t{0xff};
  asm volatile("mov %0, %%fs:0x28" : : "r"(_dl_random[0] & kAllButFirstByte) : "memory");
  asm volatile("mov %0, %%fs:0x30" : : "r"(_dl_random[1]) : "memory");
}

void Initialize(const Initializer* begin, const Initializer* end, int argc, char** argv) {
  for (; begin < end; ++begin) (*begin)(argc, argv, __environ);
}

void Finalize(void*) {
  for (const Finalizer* function = __fini_array_end; function > __fini_array_start;) (*--function)();
  _fini();
}

BEFORE_GUARDS Elf64_auxv_t* VectorBehind(char** environment) {
  while (*environment != nullptr) ++environment;
  return reinterpret_cast<Elf64_auxv_t*>(environment + 1);
}

}  // namespace

// The entry point of the C start files calls this function. The two functions for the initialization and the end of the
// program are null: only older start files pass them.
extern "C" [[noreturn]] BEFORE_GUARDS void __libc_start_main(Main main, int argc, char** argv, void (*)(), void (*)(),
                                                             void (*end_of_loader)(), void* stack_end) {
  __environ = argv + argc + 1;
  __libc_stack_end = stack_end;
  _dl_aux_init(VectorBehind(__environ));
  if (_dl_minsigstacksize == 0) _dl_minsigstacksize = kLargestSignalFrame;
  __tunables_init(__environ);
  _dl_relocate_static_pie();
  ChooseVariants();
  __libc_setup_tls();
  SetGuards();
  if (end_of_loader != nullptr) {
    __cxa_atexit(reinterpret_cast<void (*)(void*)>(end_of_loader), nullptr, nullptr);
  }
  __libc_early_init(true);
  __libc_init_first(argc, argv, __environ);
  __cxa_atexit(Finalize, nullptr, nullptr);
  if (__libc_enable_secure != 0) __libc_check_standard_fds();
  Initialize(__preinit_array_start, __preinit_array_end, argc, argv);
  _init();
  Initialize(__init_array_start, __init_array_end, argc, argv);
  _dl_debug_initialize(0, 0);
  std::exit(main(argc, argv, __environ));
}
// NOLINTEND(readability-identifier-naming, performance-no-int-to-ptr)
