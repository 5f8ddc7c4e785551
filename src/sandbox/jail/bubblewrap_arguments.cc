#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "sandbox/jail/bubblewrap.h"

namespace holdfast::sandbox {
namespace {

// bubblewrap gives up at 9000, its own program and the inner stage's words included.
constexpr size_t kMaxWords = 8900;

// Parts of /proc that change the machine. bubblewrap covers some of them, and only where it could not write itself.
constexpr const char* kSysctls = "/proc/sys";
// These belong to root, and nobody else could write them; each mount costs 0.1 ms.
constexpr std::array kRootsKnobs = {"/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
                                    "/proc/acpi",          "/proc/scsi"};

bool Exists(const char* path) {
  struct stat status;
  return ::lstat(path, &status) == 0;
}

std::string Octal(uint32_t mode) { return fmt::format("{:04o}", mode); }

class Translation {
 public:
  Result<> Add(const Mount& mount) {
    return std::visit([this](const auto& step) { return Step(step); }, mount);
  }

  BubblewrapArguments Take() { return std::move(arguments_); }
  size_t size() const { return arguments_.words.size(); }

  void Words(std::initializer_list<std::string> words) {
    arguments_.words.insert(arguments_.words.end(), words.begin(), words.end());
  }

 private:
  Result<> Say(std::initializer_list<std::string> words) {
    Words(words);
    return {};
  }

  Result<> Step(const ReadOnlyBind& bind) { return Say({"--ro-bind", bind.path, bind.path}); }
  Result<> Step(const WritableBind& bind) {
    const bool devices = bind.path == "/dev" || bind.path.starts_with("/dev/");
    return Say({devices ? "--dev-bind" : "--bind", bind.path, bind.path});
  }
  Result<> Step(const PinnedBind& bind) { return Say({"--bind", bind.path, bind.path}); }
  Result<> Step(const EmptyRoot&) { return Say({"--tmpfs", "/"}); }
  Result<> Step(const EmptyDirectory& empty) { return Say({"--perms", Octal(empty.mode), "--tmpfs", empty.path}); }
  Result<> Step(const MakeDirectory& directory) { return Say({"--perms", "0111", "--dir", directory.path}); }
  Result<> Step(const Symlink& link) { return Say({"--symlink", link.target, link.path}); }
  Result<> Step(const Seal& seal) { return Say({"--remount-ro", seal.path}); }
  Result<> Step(const PrivateDev&) { return Say({"--dev", "/dev"}); }

  Result<> Step(const FreshProc& proc) {
    Words({"--proc", "/proc"});
    if (!proc.only_knobs) return Say({"--remount-ro", "/proc"});
    Words({"--ro-bind", kSysctls, kSysctls});
    for (const char* knob : kRootsKnobs) {
      if (::geteuid() == 0 && Exists(knob)) Words({"--ro-bind", knob, knob});
    }
    return {};
  }

  // One descriptor each: bubblewrap closes what it has read.
  Result<> Step(const EmptyFile& empty) {
    OwnedFd nothing(::open("/dev/null", O_RDONLY));  // inherited, hence without O_CLOEXEC
    if (!nothing.is_open()) return FailErrno("open", "/dev/null");
    Words({"--perms", Octal(empty.mode), "--ro-bind-data", std::to_string(nothing.get()), empty.path});
    arguments_.fds.push_back(std::move(nothing));
    return {};
  }

  BubblewrapArguments arguments_;
};

}  // namespace

Result<BubblewrapArguments> ArgumentsFor(const Plan& plan) {
  Translation translation;
  translation.Words({"--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"});
  if (plan.own_network) translation.Words({"--unshare-net"});
  for (const Mount& mount : plan.mounts) {
    TRY_VOID(translation.Add(mount));
    if (translation.size() > kMaxWords) {
      return Fail(ErrorKind::kLimit, "the policy needs more mounts than bubblewrap takes in one go");
    }
  }
  translation.Words({"--cap-drop", "ALL"});
  return translation.Take();
}

}  // namespace holdfast::sandbox
