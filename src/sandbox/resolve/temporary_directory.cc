#include "sandbox/resolve/temporary_directory.h"

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
#include "sandbox/resolve/made_links.h"
#include "sandbox/resolve/path_walk.h"
#include "sandbox/resolve/real_path.h"

namespace holdfast::sandbox {
namespace {

enum class Allows { kItselfAndBelow, kOnlyBelow };

struct Base {
  std::string path;  // without links
  Allows allows;
};

// Returns the directories that a temporary directory may lie in. "/" is never among them: every directory lies below
// it.
std::vector<Base> Bases(const std::string& of_server) {
  std::vector<Base> bases;
  const auto add = [&](const std::string& path, Allows allows) {
    auto real = path.starts_with('/') ? RealPath(path) : std::nullopt;
    if (real && *real != "/") bases.push_back({.path = *std::move(real), .allows = allows});
  };
  add("/tmp", Allows::kItselfAndBelow);
  add("/var/tmp", Allows::kItselfAndBelow);
  add(fmt::format("/run/user/{}", ::geteuid()), Allows::kOnlyBelow);
  add(of_server, Allows::kItselfAndBelow);
  return bases;
}

std::unexpected<Error> Refuse(std::string_view path, std::string_view reason) {
  return Fail(ErrorKind::kInvalidRequest, fmt::format("TMPDIR {}: {}", path, reason));
}

// Refuses a path with a link that an earlier command could have made: its target would become writable for the next
// command.
Result<> CheckLinks(const std::string& wanted) {
  PathWalker walker;
  TRY(const PathWalk walk, walker.Walk(wanted));
  const MadeLinks made = MadeLinks::Anywhere();
  for (const CrossedLink& link : walk.links) {
    TRY(const bool is_suspect, made.Suspect(link));
    if (is_suspect)
      return Refuse(wanted, fmt::format("crosses the link {}, which a command could have made", link.path));
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
  const auto is_itself = [&](const Base& base) { return base.allows == Allows::kItselfAndBelow && *real == base.path; };
  if (std::ranges::any_of(bases, is_itself)) return *std::move(real);
  if (std::ranges::none_of(bases, [&](const Base& base) { return IsBelow(*real, base.path); })) {
    return Refuse(wanted, "is not below /tmp, /var/tmp, /run/user/UID or the server's own TMPDIR");
  }
  if (status.st_uid != ::geteuid()) return Refuse(wanted, "belongs to another user");
  return *std::move(real);
}

}  // namespace holdfast::sandbox
