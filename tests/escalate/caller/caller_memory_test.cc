#include "escalate/caller/caller_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::escalate {
namespace {

using Strings = std::vector<std::string>;

uint64_t AddressOf(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// Two pages, of which the second cannot be read.
class EndOfMemory {
 public:
  EndOfMemory()
      : pages_(static_cast<char*>(
            ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::mprotect(pages_ + kPage, kPage, PROT_NONE);
  }
  ~EndOfMemory() { ::munmap(pages_, 2 * kPage); }
  EndOfMemory(const EndOfMemory&) = delete;
  EndOfMemory& operator=(const EndOfMemory&) = delete;

  // Puts bytes at the very end of the memory that can be read, and returns their address.
  char* Put(std::string_view bytes) {
    return std::copy_n(bytes.data(), bytes.size(), end() - bytes.size()) - bytes.size();
  }
  char* end() { return pages_ + kPage; }

 private:
  static constexpr size_t kPage = 4096;
  char* const pages_;
};

TEST(CallerMemoryTest, ReadsAPathThatEndsWithTheMemory) {
  EndOfMemory memory;
  EXPECT_EQ(CallerMemory(::getpid()).ReadPath(AddressOf(memory.Put({"/bin/x", 7}))), "/bin/x");
}

TEST(CallerMemoryTest, FailsAsTheKernelForAPathThatDoesNotEnd) {
  EndOfMemory memory;
  EXPECT_EQ(CallerMemory(::getpid()).ReadPath(AddressOf(memory.Put("/bin/x"))), std::unexpected(EFAULT));
  EXPECT_EQ(CallerMemory(::getpid()).ReadPath(16), std::unexpected(EFAULT));
}

TEST(CallerMemoryTest, ReadsPathsUpToTheLimitOfTheKernel) {
  const std::string longest(PATH_MAX - 1, 'x'), longer(PATH_MAX, 'x');
  EXPECT_EQ(CallerMemory(::getpid()).ReadPath(AddressOf(longest.c_str())), longest);
  EXPECT_EQ(CallerMemory(::getpid()).ReadPath(AddressOf(longer.c_str())), std::unexpected(ENAMETOOLONG));
}

TEST(CallerMemoryTest, ReadsStringsFromMorePagesThanItKeeps) {
  Strings words;
  for (int i = 0; i < 100; ++i) words.emplace_back(5000, static_cast<char>('!' + i % 90));
  std::vector<const char*> array;
  for (const std::string& word : words) array.push_back(word.c_str());
  array.push_back(nullptr);
  size_t room = kMaxExecBytes;
  EXPECT_EQ(CallerMemory(::getpid()).ReadStrings(AddressOf(array.data()), room), words);
  EXPECT_EQ(room, kMaxExecBytes - 100 * (5000 + 1 + sizeof(char*)));
}

TEST(CallerMemoryTest, ReadsPointersThatLieInTwoPages) {
  const char* const array[] = {"one", "two", nullptr};
  std::vector<char> pages(3 * 4096);
  char* const boundary = reinterpret_cast<char*>((AddressOf(pages.data()) + 4096) & ~4095UL);
  std::memcpy(boundary - 3, array, sizeof array);
  size_t room = kMaxExecBytes;
  EXPECT_EQ(CallerMemory(::getpid()).ReadStrings(AddressOf(boundary - 3), room), (Strings{"one", "two"}));
}

TEST(CallerMemoryTest, ReadsNoStringsWithoutAnArray) {
  size_t room = 0;
  EXPECT_EQ(CallerMemory(::getpid()).ReadStrings(0, room), Strings{});
}

TEST(CallerMemoryTest, LimitsOneStringAndAllOfThem) {
  const std::string longest(kMaxArgumentBytes - 1, 'x'), longer(kMaxArgumentBytes, 'x');
  const char* const fits[] = {longest.c_str(), nullptr};
  const char* const too_long[] = {longer.c_str(), nullptr};
  size_t room = kMaxExecBytes, small = kMaxArgumentBytes;
  EXPECT_EQ(CallerMemory(::getpid()).ReadStrings(AddressOf(fits), room), Strings{longest});
  EXPECT_EQ(CallerMemory(::getpid()).ReadStrings(AddressOf(too_long), room), std::unexpected(E2BIG));
  EXPECT_EQ(CallerMemory(::getpid()).ReadStrings(AddressOf(fits), small), std::unexpected(E2BIG));
}

}  // namespace
}  // namespace holdfast::escalate
