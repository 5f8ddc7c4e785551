// Checks that a program which starts by apps/libc_start has all that a start of libc provides: it is linked with that
// file, and each check uses one part of libc or of C++ that depends on the start. The program prints the checks that
// have failed, and fails if there are any. CMake runs it before it links the product with the file, and ctest runs it
// again.
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#define _Bool bool  // the next header is written for C only
#include <sys/platform/x86.h>
#undef _Bool
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* kSecondExecution = "second-execution";

struct Arguments {
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
};
Arguments of_main, of_constructor;

__attribute__((constructor)) void Construct(int argc, char** argv, char** environment) {
  of_constructor = {argc, argv, environment};
}

bool tells_its_end = false;

__attribute__((destructor)) void Destroy() {
  if (tells_its_end) (void)!::write(STDOUT_FILENO, "destroyed\n", 10);
}

const std::map<std::string, int> made_before_main = {{"one", 1}, {"two", 2}};
thread_local int per_thread = 7;

uintptr_t StackGuard() {
  uintptr_t guard;
  asm("mov %%fs:0x28, %0" : "=r"(guard));
  return guard;
}

uintptr_t PointerGuard() {
  uintptr_t guard;
  asm("mov %%fs:0x30, %0" : "=r"(guard));
  return guard;
}

// Returns the status with which a child ends that runs `function`.
template <typename Function>
int StatusOfChild(Function function) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core = {0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::freopen("/dev/null", "w", stderr);
    function();
    std::exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

// Returns what this program prints when it is executed again. It prints its guards then, and a word from each of two
// functions that run at its end.
std::string OutputOfSecondExecution() {
  FILE* const output =
      ::popen((std::string("/proc/") + std::to_string(::getpid()) + "/exe " + kSecondExecution).c_str(), "r");
  if (output == nullptr) return "";
  char text[256] = {};
  const size_t size = std::fread(text, 1, sizeof text - 1, output);
  return ::pclose(output) == 0 ? std::string(text, size) : "";
}

bool ArgumentsAreThere() {
  return of_main.argc == of_constructor.argc && of_main.argv == of_constructor.argv &&
         of_main.environment == of_constructor.environment && of_main.environment == environ &&
         of_main.argv[of_main.argc] == nullptr && program_invocation_name == of_main.argv[0];
}

bool EnvironmentCanBeReadAndSet() {
  return ::setenv("LIBC_START", "set", 1) == 0 && std::string(std::getenv("LIBC_START")) == "set";
}

bool StaticObjectsAreMade() { return made_before_main.at("two") == 2; }

bool FunctionsRunAtTheEnd() { return OutputOfSecondExecution().ends_with("\nended\ndestroyed\n"); }

bool GuardsAreRandom() {
  size_t other_stack = 0, other_pointer = 0;
  const bool read = std::sscanf(OutputOfSecondExecution().c_str(), "%zu %zu", &other_stack, &other_pointer) == 2;
  return read && (StackGuard() & 0xff) == 0 && StackGuard() != other_stack && PointerGuard() != other_pointer;
}

// libc knows no features of the processor, because nothing has asked for them.
bool TheProcessorIsNotAsked() { return __x86_get_cpuid_feature_leaf(CPUID_INDEX_1)->cpuid_array[0] == 0; }

// Writes behind its buffer, which the guard of the stack has to notice before the function returns.
[[gnu::noinline]] void SmashTheStack(size_t size) {
  char buffer[16];
  asm volatile("" : "+r"(size));  // the compiler must not see that it is too large
  std::memset(buffer, 1, size);
  asm volatile("" : : "r"(buffer) : "memory");
}

bool SmashedStackIsNoticed() {
  const int status = StatusOfChild([] { SmashTheStack(64); });
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

bool AbortEndsTheProcess() {
  const int status = StatusOfChild([] { std::abort(); });
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

// The table of functions that have several variants is read-only after the start.
bool RelocatedDataIsReadOnly() {
  const ElfW(Phdr)* const headers = reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR));
  for (size_t i = 0; i < ::getauxval(AT_PHNUM); ++i) {
    if (headers[i].p_type != PT_GNU_RELRO) continue;
    auto* const address = reinterpret_cast<volatile char*>(headers[i].p_vaddr);
    const int status = StatusOfChild([address] { *address = *address; });
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
  }
  return false;
}

bool LongJumpsWork() {
  std::jmp_buf place;
  const int jumps = setjmp(place);
  if (jumps < 3) std::longjmp(place, jumps + 1);
  return jumps == 3;
}

bool ExceptionsAreCaught() {
  try {
    (void)std::vector<int>().at(1);
  } catch (const std::out_of_range&) {
    return true;
  }
  return false;
}

bool ThreadsHaveTheirOwnVariables() {
  bool was_alone = __libc_single_threaded != 0, is_right = false;
  std::mutex mutex;
  per_thread = 8;
  errno = EPERM;
  std::thread thread([&] {
    const std::lock_guard lock(mutex);
    errno = ENOENT;
    is_right = per_thread == 7 && StackGuard() != 0 && ExceptionsAreCaught();
  });
  thread.join();
  return was_alone && is_right && per_thread == 8 && errno == EPERM;
}

bool MemoryCanBeAllocated() {
  std::vector<std::string> pieces;
  for (size_t size = 1; size <= (32 << 20); size *= 2) pieces.emplace_back(size, 'x');
  void* const aligned = std::aligned_alloc(4096, 8192);
  const bool is_aligned = reinterpret_cast<uintptr_t>(aligned) % 4096 == 0;
  std::free(aligned);
  const int status = StatusOfChild([] { std::exit(std::string(1 << 20, 'y').size() == 1 << 20 ? 3 : 4); });
  return is_aligned && pieces.back().back() == 'x' && WEXITSTATUS(status) == 3;
}

// Sizes around those at which the functions choose another way of copying.
bool CopiesAreRight() {
  constexpr size_t kLargest = 6 << 20;
  std::vector<unsigned char> from(kLargest + 64), to(kLargest + 64);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
  for (const size_t size :
       {0,    1,    3,     15,    16,    17,     31,     64,     127,    129,     255,     2047,   2048,
        2049, 4096, 16384, 32767, 65537, 524288, 786431, 786432, 786433, 1048577, 4194304, 6 << 20}) {
    std::memset(to.data(), 0xee, to.size());
    std::memcpy(to.data() + 5, from.data() + 3, size);
    for (size_t i = 0; i < size; ++i) {
      if (to[i + 5] != from[i + 3]) return false;
    }
    if (to[4] != 0xee || to[size + 5] != 0xee) return false;
    std::memmove(to.data() + 9, to.data() + 5, size);
    if (std::memcmp(to.data() + 9, from.data() + 3, size) != 0) return false;
  }
  return true;
}

bool TextFunctionsWork() {
  const std::string text = "The quick brown fox jumps over the lazy dog, " + std::string(500, 'z') + "!";
  return std::strlen(text.c_str()) == text.size() && std::strchr(text.c_str(), '!') == text.c_str() + text.size() - 1 &&
         std::strrchr(text.c_str(), 'T') == text.c_str() && std::strstr(text.c_str(), "lazy") == text.c_str() + 35 &&
         std::memchr(text.c_str(), '!', text.size()) != nullptr && std::strcmp("a", "b") < 0 &&
         ::strcasecmp("ABC", "abc") == 0 && std::strspn("aab", "a") == 2 && std::strcspn("aab", "b") == 2 &&
         std::strncmp("abX", "abY", 2) == 0 && ::strnlen("abc", 2) == 2;
}

bool NumbersAreWrittenAndRead() {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f %ls %d", 2.5, L"wide", -7);
  return std::string(text) == "2.500 wide -7" && std::strtod("0.125", nullptr) == 0.125 &&
         std::string(std::setlocale(LC_ALL, nullptr)) == "C";
}

bool TheKernelIsKnown() {
  timespec now = {};
  return ::getauxval(AT_PAGESZ) == 4096 && ::sysconf(_SC_PAGESIZE) == 4096 && ::sysconf(_SC_MINSIGSTKSZ) >= 2048 &&
         ::sysconf(_SC_NPROCESSORS_ONLN) > 0 && ::clock_gettime(CLOCK_MONOTONIC, &now) == 0 && now.tv_sec > 0;
}

volatile std::sig_atomic_t on_own_stack = 0;

bool SignalsHaveStacks() {
  static char stack[65536];
  stack_t own = {};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    const char here = 0;
    on_own_stack = &here >= stack && &here < stack + sizeof stack ? 1 : 0;
  };
  action.sa_flags = SA_ONSTACK;
  return ::sigaltstack(&own, nullptr) == 0 && ::sigaction(SIGUSR1, &action, nullptr) == 0 && std::raise(SIGUSR1) == 0 &&
         on_own_stack == 1;
}

bool ProgramHeadersAreFound() {
  int found = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* count) { return *static_cast<int*>(count) += info->dlpi_phnum, 0; }, &found);
  return found > 0;
}

struct Check {
  const char* name;
  bool (*passes)();
};
constexpr Check kChecks[] = {
    {"arguments", ArgumentsAreThere},
    {"environment", EnvironmentCanBeReadAndSet},
    {"static objects", StaticObjectsAreMade},
    {"functions at the end", FunctionsRunAtTheEnd},
    {"guards", GuardsAreRandom},
    {"no questions to the processor", TheProcessorIsNotAsked},
    {"smashed stack", SmashedStackIsNoticed},
    {"abort", AbortEndsTheProcess},
    {"relocated data", RelocatedDataIsReadOnly},
    {"long jumps", LongJumpsWork},
    {"exceptions", ExceptionsAreCaught},
    {"threads", ThreadsHaveTheirOwnVariables},
    {"memory", MemoryCanBeAllocated},
    {"copies", CopiesAreRight},
    {"text", TextFunctionsWork},
    {"numbers", NumbersAreWrittenAndRead},
    {"kernel", TheKernelIsKnown},
    {"signals", SignalsHaveStacks},
    {"program headers", ProgramHeadersAreFound},
};

}  // namespace

int main(int argc, char** argv, char** environment) {
  if (argc == 2 && std::strcmp(argv[1], kSecondExecution) == 0) {
    tells_its_end = true;
    std::atexit([] { (void)!::write(STDOUT_FILENO, "ended\n", 6); });
    std::printf("%zu %zu\n", StackGuard(), PointerGuard());
    std::fflush(stdout);
    return 0;
  }
  of_main = {argc, argv, environment};
  int failed = 0;
  for (const auto& [name, passes] : kChecks) {
    // Each check has a process of its own, because it may end the process.
    const int status = StatusOfChild([&] { std::exit(passes() ? 0 : 1); });
    if (status == 0) continue;
    std::printf("The start of libc lacks something: %s\n", name);
    std::fflush(stdout);  // before the next child copies it
    ++failed;
  }
  return failed == 0 ? 0 : 1;
}
