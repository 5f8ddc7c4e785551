#include "sandbox/jail/host_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/owned_fd.h"
#include "base/parse_number.h"
#include "sandbox/plan/program_names.h"
#include "sys/io.h"

namespace holdfast::sandbox {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;  // mountinfo is the longest file

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\0')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

// Returns the first line of `rest` and removes it from there.
std::string_view NextLine(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

std::string_view NextWord(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

std::optional<uint64_t> Number(std::string_view text, int base = 10) {
  return ParseNumber<uint64_t>(Trimmed(text), base);
}

class Tree {
 public:
  explicit Tree(const std::string& root) : root_(root.ends_with('/') ? root : root + '/') {}

  bool Has(std::string_view path) const {
    struct stat status;
    return ::stat((root_ + std::string(path)).c_str(), &status) == 0;
  }

  // Returns an empty text when the file does not exist or may not be read.
  std::string Read(std::string_view path) const {
    const OwnedFd fd(::open((root_ + std::string(path)).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    std::string text;
    while (fd.is_open() && text.size() < kMaxFileBytes) {
      constexpr size_t piece = 16 << 10;
      const size_t before = text.size();
      text.resize(before + piece);
      const ssize_t n = sys::Read(fd.get(), text.data() + before, piece);
      text.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
      if (n <= 0) break;
    }
    return text;
  }

  std::optional<bool> Switch(std::string_view path) const {
    const auto number = Number(Read(path));
    return number ? std::optional(*number != 0) : std::nullopt;
  }

 private:
  std::string root_;
};

// The value of a line `Name:\tvalue` of /proc/self/status.
std::string_view StatusField(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    const std::string_view line = NextLine(status);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      return Trimmed(line.substr(name.size() + 1));
    }
  }
  return "";
}

struct Mounts {
  bool root_is_mounted = false, proc_is_covered = false, binds_etc_hosts = false, lxcfs = false;
};

// The kernel does not count mounts on directories of /proc that are always empty, such as these two.
bool HidesProc(std::string_view mount_point) {
  return mount_point.starts_with("/proc/") && mount_point != "/proc/sys/fs/binfmt_misc" &&
         mount_point != "/proc/fs/nfsd";
}

Mounts ReadMounts(std::string_view mountinfo) {
  Mounts mounts;
  while (!mountinfo.empty()) {
    const std::string_view whole = NextLine(mountinfo);
    std::string_view line = whole;
    for (int skipped = 0; skipped < 4; ++skipped) (void)NextWord(line);  // ids, device and root
    const std::string_view point = NextWord(line);
    mounts.root_is_mounted |= point == "/";
    mounts.proc_is_covered |= HidesProc(point);
    mounts.binds_etc_hosts |= point == "/etc/hosts" || point == "/etc/hostname";
    mounts.lxcfs |= whole.contains(" - fuse.lxcfs ");
  }
  return mounts;
}

// The file /.dockerenv alone does not prove a container: it is also in images that were unpacked for another use.
std::string ContainerOf(const Tree& tree, const Mounts& mounts) {
  const std::string cgroup = tree.Read("proc/self/cgroup");
  if (cgroup.contains("kubepods") || tree.Has("var/run/secrets/kubernetes.io")) return "kubernetes";
  if (tree.Has("run/.containerenv")) return "podman";
  if (cgroup.contains("/docker") || (tree.Has(".dockerenv") && mounts.binds_etc_hosts)) return "docker";
  if (const std::string said = tree.Read("run/systemd/container"); !said.empty()) return std::string(Trimmed(said));
  if (cgroup.contains("/lxc") || mounts.lxcfs) return "lxc";
  return "";
}

// In a sandbox of ours, pid 1 is the inner stage. A sandbox by Landlock has no pid namespace of its own; there the
// no_new_privs flag and the filter of this process have to be proof enough, unless it is in a container.
bool InOurSandbox(const Tree& tree, const HostFacts& facts) {
  if (!facts.no_new_privs || facts.seccomp_mode != kSeccompFilterMode) return false;
  const std::string stage = fmt::format("{0}{1}{0}", '\0', kInnerStage);
  return facts.container.empty() || tree.Read("proc/1/cmdline").contains(stage);
}

std::vector<std::string> LimitsOfNone(const Tree& tree) {
  std::vector<std::string> settings;
  for (const std::string_view kind : {"user", "mnt", "pid", "ipc", "uts", "cgroup", "net"}) {
    const std::string file = fmt::format("max_{}_namespaces", kind);
    if (Number(tree.Read("proc/sys/user/" + file)) == 0u) settings.push_back("user." + file);
  }
  return settings;
}

std::string AppArmorProfile(const Tree& tree) {
  std::string text = tree.Read("proc/self/attr/apparmor/current");
  if (text.empty()) text = tree.Read("proc/self/attr/current");
  const std::string_view profile = Trimmed(text);
  return profile == "unconfined" ? "" : std::string(profile);
}

}  // namespace

Wsl WslOf(std::string_view kernel_text) {
  std::string text(kernel_text);
  std::ranges::transform(text, text.begin(), AsciiLower);
  if (text.contains("wsl1")) return Wsl::kWsl1;
  if (text.contains("wsl2") || text.contains("microsoft-standard")) return Wsl::kWsl2;
  return text.contains("microsoft") ? Wsl::kWsl1 : Wsl::kNone;
}

HostFacts GatherHostFacts(const std::string& root) {
  const Tree tree(root);
  const std::string status = tree.Read("proc/self/status");
  const std::string mountinfo = tree.Read("proc/self/mountinfo");
  const Mounts mounts = ReadMounts(mountinfo);
  HostFacts facts;
  facts.kernel_release = Trimmed(tree.Read("proc/sys/kernel/osrelease"));
  facts.wsl = WslOf(facts.kernel_release);
  facts.container = ContainerOf(tree, mounts);
  facts.has_user_namespaces = tree.Has("proc/self/ns/user") || !tree.Has("proc/self/ns");
  facts.max_user_namespaces = Number(tree.Read("proc/sys/user/max_user_namespaces"));
  facts.limits_of_none = LimitsOfNone(tree);
  facts.unprivileged_userns_clone = tree.Switch("proc/sys/kernel/unprivileged_userns_clone");
  facts.apparmor = tree.Read("sys/module/apparmor/parameters/enabled").starts_with('Y');
  facts.apparmor_restricts_userns = tree.Switch("proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  if (facts.apparmor) facts.apparmor_profile = AppArmorProfile(tree);
  facts.chrooted = !mountinfo.empty() && !mounts.root_is_mounted;
  facts.proc_is_covered = mounts.proc_is_covered;
  facts.effective_capabilities = Number(StatusField(status, "CapEff"), 16).value_or(0);
  facts.no_new_privs = StatusField(status, "NoNewPrivs") == "1";
  facts.seccomp_mode = static_cast<int>(Number(StatusField(status, "Seccomp")).value_or(0));
  facts.in_our_sandbox = InOurSandbox(tree, facts);
  return facts;
}

Result<> CheckHost() {
  utsname names;
  return CheckHost(::uname(&names) == 0 ? WslOf(names.release) : Wsl::kNone);
}

Result<> CheckHost(Wsl wsl) {
  if (wsl != Wsl::kWsl1) return {};
  return Fail(ErrorKind::kInvalidRequest,
              "this is WSL 1, which has no namespaces to make a sandbox of; convert the distribution to WSL 2");
}

}  // namespace holdfast::sandbox
