#include "sandbox/resolve/temporary_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/paths.h"
#include "sandbox/resolve/path_walk.h"
#include "sandbox/resolve/real_path.h"

namespace holdfast::sandbox {
namespace {

enum class Itself { kWillDo, kWillNotDo };

struct Base {
  std::string path;  // without links
  Itself itself;
};

// "/" would make everything a place for temporary files.
std::vector<Base> Bases(const std::string& of_server) {
  std::vector<Base> bases;
  const auto add = [&](const std::string& path, Itself itself) {
    auto real = path.starts_with('/') ? RealPath(path) : std::nullopt;
    if (real && *real != "/") bases.push_back({.path = *std::move(real), .itself = itself});
  };
  add("/tmp", Itself::kWillDo);
  add("/var/tmp", Itself::kWillDo);
  add(fmt::format("/run/user/{}", ::geteuid()), Itself::kWillNotDo);
  add(of_server, Itself::kWillDo);
  return bases;
}

std::unexpected<Error> Refuse(std::string_view path, std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("TMPDIR {}: {}", path, reason));
}

// A link that a command could have put there, under this policy or one before it: it would open what it leads to for
// the next command. Links in the system's own directories are the administrator's.
Result<> CheckLinks(const std::string& wanted) {
  PathWalker walker;
  TRY(const PathWalk walk, walker.Walk(wanted));
  for (const CrossedLink& link : walk.links) {
    const std::string directory(ParentOf(link.path));
    if (directory == "/" || directory == "/var") continue;
    struct stat status;
    const bool is_owner = ::lstat(directory.c_str(), &status) < 0 || status.st_uid == ::geteuid();
    if (is_owner || ::faccessat(AT_FDCWD, directory.c_str(), W_OK, AT_EACCESS) == 0) {
      return Refuse(wanted, fmt::format("crosses the link {}, which a command could have made", link.path));
    }
  }
  return {};
}

}  // namespace

bool NamesTemporaryDirectory(const Policy& policy) {
  const auto is_it = [](const Entry& entry) {
    const auto* place = std::get_if<Place>(&entry.where);
    return place != nullptr && place->kind == PlaceKind::kTmpDir;
  };
  return policy.files && std::ranges::any_of(policy.files->entries, is_it);
}

Result<std::string> ResolveTemporaryDirectory(const TemporaryDirectory& directory) {
  const std::string& wanted = directory.wanted;
  if (!wanted.starts_with('/')) return Refuse(wanted, "is not an absolute path");
  std::optional<std::string> real = RealPath(wanted);
  struct stat status;
  if (!real || ::lstat(real->c_str(), &status) < 0) return Refuse(wanted, "does not exist or cannot be looked at");
  if (!S_ISDIR(status.st_mode)) return Refuse(wanted, "is not a directory");
  TRY_VOID(CheckLinks(wanted));
  const std::vector<Base> bases = Bases(directory.of_server);
  const auto is_itself = [&](const Base& base) { return base.itself == Itself::kWillDo && *real == base.path; };
  if (std::ranges::any_of(bases, is_itself)) return *std::move(real);
  if (std::ranges::none_of(bases, [&](const Base& base) { return IsBelow(*real, base.path); })) {
    return Refuse(wanted, "is not below /tmp, /var/tmp, /run/user/UID or the server's own TMPDIR");
  }
  if (status.st_uid != ::geteuid()) return Refuse(wanted, "belongs to another user");
  return *std::move(real);
}

}  // namespace holdfast::sandbox
