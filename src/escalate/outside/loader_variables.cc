#include "escalate/outside/loader_variables.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace holdfast::escalate {
namespace {

// The variables that glibc ignores in set-user-ID programs, as ld.so(8) lists them, beside those that begin with LD_.
// TMPDIR is missing: it names a directory for files of the program's own, and most environments have it.
constexpr std::string_view kNames[] = {
    "GCONV_PATH",   "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES", "LOCALDOMAIN",      "LOCPATH",
    "MALLOC_TRACE", "NIS_PATH",    "NLSPATH",        "RES_OPTIONS", "RESOLV_HOST_CONF", "TZDIR",
};

bool IsLoaderVariable(std::string_view entry) {
  const std::string_view name = entry.substr(0, entry.find('='));
  return name.starts_with("LD_") || std::ranges::find(kNames, name) != std::end(kNames);
}

}  // namespace

bool HasLoaderVariables(std::span<const std::string> environment) {
  return std::ranges::any_of(environment, IsLoaderVariable);
}

void DropLoaderVariables(std::vector<std::string>& environment) { std::erase_if(environment, IsLoaderVariable); }

}  // namespace holdfast::escalate
