#include "escalate/caller/caller_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>
#include <utility>

namespace holdfast::escalate {

CallerMemory::CallerMemory(pid_t tid) : tid_(tid), pages_(std::make_unique_for_overwrite<std::array<Page, kPages>>()) {}

OrErrno<const CallerMemory::Page*> CallerMemory::ReadPage(uint64_t base) {
  const auto known = std::span(*pages_).first(page_count_);
  const auto page = std::ranges::find(known, base, &Page::base);
  if (page != known.end()) return &*page;
  Page& next = (*pages_)[next_page_];
  next.base = kNoPage;  // until it is read
  const iovec here = {.iov_base = next.bytes.data(), .iov_len = kPageBytes};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process
  const iovec there = {.iov_base = reinterpret_cast<void*>(base), .iov_len = kPageBytes};
  if (::process_vm_readv(tid_, &here, 1, &there, 1, 0) != static_cast<ssize_t>(kPageBytes)) {
    return std::unexpected(errno == EPERM ? EPERM : EFAULT);
  }
  next.base = base;
  page_count_ = std::max(page_count_, next_page_ + 1);
  next_page_ = (next_page_ + 1) % kPages;
  return &next;
}

// Returns the bytes from an address to the end of its page.
OrErrno<std::span<const char>> CallerMemory::BytesFrom(uint64_t address) {
  const uint64_t offset = address % kPageBytes;
  const auto page = ReadPage(address - offset);
  if (!page) return std::unexpected(page.error());
  return std::span<const char>((*page)->bytes).subspan(offset);
}

OrErrno<std::string> CallerMemory::ReadString(uint64_t address, size_t max_bytes, int too_long) {
  std::string text;
  for (;;) {
    const auto bytes = BytesFrom(address + text.size());
    if (!bytes) return std::unexpected(bytes.error());
    const auto* const end = static_cast<const char*>(std::memchr(bytes->data(), '\0', bytes->size()));
    text.append(bytes->data(), end != nullptr ? static_cast<size_t>(end - bytes->data()) : bytes->size());
    if (text.size() >= max_bytes) return std::unexpected(too_long);
    if (end != nullptr) return text;
  }
}

OrErrno<std::string> CallerMemory::ReadPath(uint64_t address) { return ReadString(address, PATH_MAX, ENAMETOOLONG); }

// A pointer need not be aligned, and then may lie in two pages.
OrErrno<uint64_t> CallerMemory::ReadPointer(uint64_t address) {
  std::array<char, sizeof(uint64_t)> pointer;
  for (size_t have = 0; have < pointer.size();) {
    const auto bytes = BytesFrom(address + have);
    if (!bytes) return std::unexpected(bytes.error());
    const size_t more = std::min(bytes->size(), pointer.size() - have);
    std::copy_n(bytes->data(), more, pointer.data() + have);
    have += more;
  }
  return std::bit_cast<uint64_t>(pointer);
}

OrErrno<std::vector<std::string>> CallerMemory::ReadStrings(uint64_t array, size_t& room) {
  std::vector<std::string> strings;
  for (; array != 0; array += sizeof(uint64_t)) {
    const auto address = ReadPointer(array);
    if (!address) return std::unexpected(address.error());
    if (*address == 0) break;
    auto text = ReadString(*address, kMaxArgumentBytes, E2BIG);
    if (!text) return std::unexpected(text.error());
    const size_t bytes = text->size() + 1 + sizeof(uint64_t);
    if (bytes > room) return std::unexpected(E2BIG);
    room -= bytes;
    strings.push_back(*std::move(text));
  }
  return strings;
}

}  // namespace holdfast::escalate
