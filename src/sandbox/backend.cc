#include "sandbox/backend.h"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::sandbox {
namespace {

constexpr std::array<std::pair<Backend, std::string_view>, 4> kNames = {{{Backend::kAuto, "auto"},
                                                                         {Backend::kNative, "native"},
                                                                         {Backend::kBubblewrap, "bubblewrap"},
                                                                         {Backend::kLandlock, "landlock"}}};

}  // namespace

std::string_view NameOf(Backend backend) {
  return std::ranges::find(kNames, backend, &std::pair<Backend, std::string_view>::first)->second;
}

std::optional<Backend> BackendOf(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &std::pair<Backend, std::string_view>::second);
  return found != kNames.end() ? std::optional(found->first) : std::nullopt;
}

}  // namespace holdfast::sandbox
