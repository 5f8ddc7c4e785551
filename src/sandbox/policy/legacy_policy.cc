#include "sandbox/policy/legacy_policy.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sandbox/policy/builtin_policies.h"
#include "sandbox/policy/location.h"
#include "sandbox/policy/profile_spelling.h"
#include "wire/decode.h"
#include "wire/field_types.h"

namespace holdfast::sandbox {
namespace {

enum class PolicyType { kDangerFullAccess, kReadOnly, kWorkspaceWrite, kExternalSandbox };

}  // namespace
}  // namespace holdfast::sandbox

namespace holdfast::wire {

template <>
struct EnumNames<sandbox::PolicyType> {
  static constexpr std::array<std::pair<const char*, sandbox::PolicyType>, 8> kNames{
      {{"danger-full-access", sandbox::PolicyType::kDangerFullAccess},
       {"dangerFullAccess", sandbox::PolicyType::kDangerFullAccess},
       {"read-only", sandbox::PolicyType::kReadOnly},
       {"readOnly", sandbox::PolicyType::kReadOnly},
       {"workspace-write", sandbox::PolicyType::kWorkspaceWrite},
       {"workspaceWrite", sandbox::PolicyType::kWorkspaceWrite},
       {"external-sandbox", sandbox::PolicyType::kExternalSandbox},
       {"externalSandbox", sandbox::PolicyType::kExternalSandbox}}};
};

}  // namespace holdfast::wire

namespace holdfast::sandbox {
namespace {

// Decodes a member that may be spelled in two ways, and refuses an object that has both. Returns the spelling that the
// object uses, for error messages.
template <typename T>
const char* Either(wire::Decoder& f, const char* snake, const char* camel, T& value) {
  const bool has_camel = !f.object().Find(camel).is_absent();
  if (has_camel && !f.object().Find(snake).is_absent()) {
    f.Fault(camel, fmt::format("is also given as {}", snake));
    return camel;
  }
  const char* name = has_camel ? camel : snake;
  f.Optional(name, value);
  return name;
}

struct ReadAccess {
  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    std::string_view type;
    f.Required("type", type);
    if (type == "full-access" || type == "fullAccess") return;
    f.Fault("type", "only a permission profile can restrict reading");
  }
};

struct PolicyMessage {
  Profile profile;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    PolicyType type{};
    f.Required("type", type);
    if (f.fault()) return;
    switch (type) {
      case PolicyType::kDangerFullAccess:
        profile = Unrestricted();
        return;
      case PolicyType::kExternalSandbox:
        profile.type = ProfileType::kExternal;
        Either(f, "network_access", "networkAccess", profile.policy.network);
        return;
      case PolicyType::kReadOnly:
        profile.policy = ReadOnly();
        return NetworkFields(f, profile.policy.network);
      case PolicyType::kWorkspaceWrite:
        WorkspaceSettings settings;
        WorkspaceFields(f, settings);
        NetworkFields(f, settings.network);
        profile.policy = WorkspaceWrite(settings);
    }
  }

  static void NetworkFields(wire::Decoder& f, Network& network) {
    bool enabled = false;
    Either(f, "network_access", "networkAccess", enabled);
    network = NetworkIf(enabled);
    ReadAccess access;
    f.Optional("access", access);
    Either(f, "read_only_access", "readOnlyAccess", access);
  }

  static void WorkspaceFields(wire::Decoder& f, WorkspaceSettings& settings) {
    Either(f, "exclude_tmpdir_env_var", "excludeTmpdirEnvVar", settings.without_tmpdir);
    Either(f, "exclude_slash_tmp", "excludeSlashTmp", settings.without_slash_tmp);
    std::vector<std::string_view> roots;
    const char* name = Either(f, "writable_roots", "writableRoots", roots);
    if (roots.size() > kMaxEntries) return f.Fault(name, fmt::format("has more than {} entries", kMaxEntries));
    for (const std::string_view root : roots) {
      auto path = ParseAbsolutePath(root);
      if (!path) return f.Fault(name, path.error().message);
      settings.writable_roots.push_back(*std::move(path));
    }
  }
};

}  // namespace

Result<Profile> DecodeLegacyPolicy(wire::Json json, std::span<const char* const> others) {
  if (!json.is_object()) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("sandbox policy: expected an object, got {}", json.kind()));
  }
  wire::Decoder decoder(json);
  PolicyMessage message;
  message.Fields(decoder);
  for (const char* name : others) decoder.Known(name);
  decoder.Finish();
  if (decoder.fault()) return Fail(ErrorKind::kInvalidParams, *decoder.fault());
  return std::move(message.profile);
}

}  // namespace holdfast::sandbox
