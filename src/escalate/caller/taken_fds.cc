#include "escalate/caller/taken_fds.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "sys/directory.h"
#include "sys/pidfd.h"

namespace holdfast::escalate {
namespace {

bool IsStandardStream(int number) { return number >= STDIN_FILENO && number <= STDERR_FILENO; }

OrErrno<PassedFd> Take(int pidfd, int number) {
  if (!sys::HasRoomForForeignFds()) return std::unexpected(EAGAIN);
  sys::ForeignFd fd = sys::TakeFd(pidfd, number);
  if (!fd.is_open()) return std::unexpected(errno);
  return PassedFd{.number = number, .fd = std::move(fd)};
}

}  // namespace

OrErrno<std::vector<PassedFd>> TakeStandardStreams(int pidfd) {
  std::vector<PassedFd> taken;
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    auto fd = Take(pidfd, number);
    if (!fd && fd.error() == EBADF) continue;
    if (!fd) return std::unexpected(fd.error());
    taken.push_back(*std::move(fd));
  }
  return taken;
}

OrErrno<std::vector<PassedFd>> TakeDescriptors(pid_t process, int pidfd, int except, std::vector<PassedFd> streams) {
  const sys::DirectoryStream listing(::opendir(fmt::format("/proc/{}/fd", process).c_str()));
  if (listing == nullptr) return std::unexpected(errno);
  std::vector<PassedFd> taken;
  while (const dirent* const entry = ::readdir(listing.get())) {
    const auto number = ParseNumber<int>(entry->d_name);
    if (!number || *number == except) continue;
    if (IsStandardStream(*number)) {
      const auto stream = std::ranges::find(streams, *number, &PassedFd::number);
      if (stream != streams.end()) taken.push_back(std::move(*stream));
      continue;
    }
    if (taken.size() == kMaxTakenFds) return std::unexpected(EMFILE);
    auto fd = Take(pidfd, *number);
    if (!fd) return std::unexpected(fd.error());
    taken.push_back(*std::move(fd));
  }
  return taken;
}

std::vector<PassedFd> WithTakenStreams(std::vector<PassedFd> fds, std::vector<PassedFd> streams) {
  const auto is_left_out = [&](const PassedFd& stream) {
    return std::ranges::find(fds, stream.number, &PassedFd::number) == fds.end();
  };
  std::erase_if(streams, is_left_out);
  std::erase_if(fds, [](const PassedFd& fd) { return IsStandardStream(fd.number); });
  std::ranges::move(fds, std::back_inserter(streams));
  return streams;
}

}  // namespace holdfast::escalate
