#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "sandbox/bubblewrap/bubblewrap.h"

namespace holdfast::sandbox {
namespace {

// bubblewrap gives up at 9000 arguments, counting its own name and the command line of the inner stage.
constexpr size_t kMaxArguments = 8900;

// Writing below /proc/sys changes the machine. bubblewrap covers some such parts of /proc, but only those that it could
// not write itself.
constexpr const char* kSysctls = "/proc/sys";
// These files belong to root, and no other user can write them. They are covered for root only, because each mount
// costs 0.1 ms.
constexpr std::array kRootsKnobs = {"/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
                                    "/proc/acpi",          "/proc/scsi"};

bool Exists(const char* path) {
  struct stat status;
  return ::lstat(path, &status) == 0;
}

std::string Octal(uint32_t mode) { return fmt::format("{:04o}", mode); }

// Translation turns the steps of a plan into arguments, one after the other.
class Translation {
 public:
  Result<> Add(const Mount& mount) {
    return std::visit([&](const auto& step) { return Step(step); }, mount);
  }

  BubblewrapArguments Finish() { return std::move(arguments_); }
  size_t size() const { return arguments_.list.size(); }

  void Append(std::initializer_list<std::string> arguments) {
    arguments_.list.insert(arguments_.list.end(), arguments.begin(), arguments.end());
  }

 private:
  static Result<> CannotDo(const std::string& path) {
    return Fail(ErrorKind::kInvalidRequest, fmt::format("mount {}: the plan is for another backend", path));
  }

  Result<> AppendStep(std::initializer_list<std::string> arguments) {
    Append(arguments);
    return {};
  }

  Result<> Step(const ReadOnlyBind& bind) { return AppendStep({"--ro-bind", bind.path, bind.path}); }
  Result<> Step(const WritableBind& bind) {
    const bool devices = bind.path == "/dev" || bind.path.starts_with("/dev/");
    return AppendStep({devices ? "--dev-bind" : "--bind", bind.path, bind.path});
  }
  Result<> Step(const PinnedBind& bind) { return AppendStep({"--bind", bind.path, bind.path}); }
  static Result<> Step(const PinnedLink&) { return {}; }  // bubblewrap would follow it: namespace_finish.h
  static Result<> Step(const HeldDirectory& held) { return CannotDo(held.path); }
  Result<> Step(const EmptyRoot&) { return AppendStep({"--tmpfs", "/"}); }
  Result<> Step(const EmptyDirectory& empty) {
    return AppendStep({"--perms", Octal(empty.mode), "--tmpfs", empty.path});
  }
  Result<> Step(const MakeDirectory& directory) { return AppendStep({"--perms", "0111", "--dir", directory.path}); }
  Result<> Step(const Symlink& link) { return AppendStep({"--symlink", link.target, link.path}); }
  Result<> Step(const Seal& seal) { return AppendStep({"--remount-ro", seal.path}); }
  Result<> Step(const PrivateDev&) { return AppendStep({"--dev", "/dev"}); }

  Result<> Step(const FreshProc& proc) {
    Append({"--proc", "/proc"});
    if (!proc.only_knobs) return AppendStep({"--remount-ro", "/proc"});
    Append({"--ro-bind", kSysctls, kSysctls});
    for (const char* knob : kRootsKnobs) {
      if (::geteuid() == 0 && Exists(knob)) Append({"--ro-bind", knob, knob});
    }
    return {};
  }

  // Each empty file has a descriptor of its own, because bubblewrap closes a descriptor after it has read from it.
  Result<> Step(const EmptyFile& empty) {
    OwnedFd nothing(::open("/dev/null", O_RDONLY));  // inherited, hence without O_CLOEXEC
    if (!nothing.is_open()) return FailErrno("open", "/dev/null");
    Append({"--perms", Octal(empty.mode), "--ro-bind-data", std::to_string(nothing.get()), empty.path});
    arguments_.fds.push_back(std::move(nothing));
    return {};
  }

  BubblewrapArguments arguments_;
};

}  // namespace

Result<BubblewrapArguments> ArgumentsFor(const NamespacePlan& plan) {
  Translation translation;
  translation.Append({"--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"});
  if (plan.own_network) translation.Append({"--unshare-net"});
  for (const Mount& mount : plan.mounts) {
    TRY_VOID(translation.Add(mount));
    if (translation.size() > kMaxArguments) {
      return Fail(ErrorKind::kLimit, "the policy needs more mounts than bubblewrap accepts for one sandbox");
    }
  }
  translation.Append({"--cap-drop", "ALL"});
  return translation.Finish();
}

}  // namespace holdfast::sandbox
