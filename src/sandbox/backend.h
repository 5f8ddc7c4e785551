// A Backend is a way to enforce a policy. The native backend and bubblewrap carry out a NamespacePlan; Landlock alone
// carries out a LandlockPlan, for the policies that it can enforce.
#pragma once

#include <optional>
#include <string_view>

namespace holdfast::sandbox {

enum class Backend {
  kAuto,  // native where it works, and otherwise bubblewrap
  kNative,
  kBubblewrap,
  kLandlock,
};

// The names are those of the flag --backend: auto, native, bubblewrap, landlock.
constexpr std::string_view NameOf(Backend backend) {
  switch (backend) {
    case Backend::kAuto:
      return "auto";
    case Backend::kNative:
      return "native";
    case Backend::kBubblewrap:
      return "bubblewrap";
    case Backend::kLandlock:
      return "landlock";
  }
  return "";
}
std::optional<Backend> BackendOf(std::string_view name);

}  // namespace holdfast::sandbox
