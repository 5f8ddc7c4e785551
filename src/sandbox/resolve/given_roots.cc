#include "sandbox/resolve/given_roots.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/paths.h"
#include "sys/io.h"
#include "sys/memory_file.h"

namespace holdfast::sandbox {
namespace {

// An entry ends with a byte that no path has.
constexpr char kEnd = '\0';
// The entry of a list that was full.
constexpr std::string_view kEverything = "*";
constexpr size_t kMaxBytes = 256 << 10;
constexpr const char* kName = "given roots";

struct Facts {
  uint64_t device, inode, born;

  friend bool operator==(const Facts&, const Facts&) = default;
};

std::optional<Facts> FactsOf(const std::string& path) {
  struct statx status;
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &status) < 0) return std::nullopt;
  const bool has_birth = (status.stx_mask & STATX_BTIME) != 0;
  const auto born = static_cast<uint64_t>(status.stx_btime.tv_sec) * 1'000'000'000 + status.stx_btime.tv_nsec;
  return Facts{.device = ::gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor),
               .inode = status.stx_ino,
               .born = has_birth ? born : 0};
}

// Each reader has a position of its own, because all processes share that of the descriptor.
Result<std::string> ReadAll(int list) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t size = ::pread(list, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return FailErrno("read", kName);
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(size));
  }
}

std::string_view NextWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

}  // namespace

// With O_APPEND each write goes behind those of other processes.
Result<std::shared_ptr<const OwnedFd>> GivenRoots::Make() {
  TRY(OwnedFd list, sys::MakeMemoryFile(kName, ""));
  if (::fcntl(list.get(), F_SETFL, O_RDWR | O_APPEND) < 0) return FailErrno("fcntl", kName);
  return std::make_shared<const OwnedFd>(std::move(list));
}

Result<GivenRoots::Root> GivenRoots::Parse(std::string_view entry) {
  const auto device = ParseNumber<uint64_t>(NextWord(entry));
  const auto inode = ParseNumber<uint64_t>(NextWord(entry));
  const auto born = ParseNumber<uint64_t>(NextWord(entry));
  if (!device || !inode || !born || !entry.starts_with('/')) {
    return Fail(ErrorKind::kInternal, fmt::format("{}: an entry makes no sense", kName));
  }
  return Root{.device = *device, .inode = *inode, .born = *born, .path = std::string(entry)};
}

Result<GivenRoots> GivenRoots::Read(int list) {
  GivenRoots given;
  TRY(const std::string text, ReadAll(list));
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(kEnd));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    if (entry == kEverything) {
      given.everything_ = true;
      continue;
    }
    TRY(Root root, Parse(entry));
    given.roots_.push_back(std::move(root));
  }
  return given;
}

Result<> GivenRoots::Add(int list, std::span<const std::string> roots) {
  TRY(const GivenRoots given, Read(list));
  if (given.everything_) return {};
  std::string entries;
  for (const std::string& path : roots) {
    const auto is_above = [&](const Root& root) { return IsAtOrBelow(path, root.path); };
    if (std::ranges::any_of(given.roots_, is_above)) continue;
    const Facts facts = FactsOf(path).value_or(Facts{});
    entries += fmt::format("{} {} {} {}", facts.device, facts.inode, facts.born, path) + kEnd;
  }
  if (entries.empty()) return {};
  struct stat status;
  if (::fstat(list, &status) < 0) return FailErrno("fstat", kName);
  const bool fits = static_cast<size_t>(status.st_size) + entries.size() <= kMaxBytes;
  if (!fits) entries = std::string(kEverything) + kEnd;
  const ssize_t written = sys::Write(list, entries.data(), entries.size());
  if (written < 0) return FailErrno("write", kName, static_cast<int>(-written));
  return {};
}

bool GivenRoots::Contain(std::string_view path) const {
  if (everything_) return true;
  for (;;) {
    const auto is_it = [&](const Root& root) { return root.path == path; };
    if (std::ranges::any_of(roots_, is_it)) return true;
    const auto facts = roots_.empty() ? std::nullopt : FactsOf(std::string(path));
    const auto was_it = [&](const Root& root) { return Facts{root.device, root.inode, root.born} == *facts; };
    if (facts && std::ranges::any_of(roots_, was_it)) return true;
    if (path == "/") return false;
    path = ParentOf(path);
  }
}

}  // namespace holdfast::sandbox
