#include "sandboxee/policies.h"

#include <fmt/format.h>

namespace holdfast::sandboxee {
namespace {

std::string Entry(std::string_view where, std::string_view access) {
  return fmt::format(R"({{"path":{},"access":"{}"}})", where, access);
}
std::string Path(std::string_view path, std::string_view access) {
  return Entry(fmt::format(R"({{"type":"path","path":"{}"}})", path), access);
}
std::string Pattern(std::string_view pattern, std::string_view access) {
  return Entry(fmt::format(R"({{"type":"glob_pattern","pattern":"{}"}})", pattern), access);
}
std::string Special(std::string_view kind, std::string_view access) {
  return Entry(fmt::format(R"({{"type":"special","value":{{"kind":"{}"}}}})", kind), access);
}

std::string Managed(std::string_view file_system, std::string_view network) {
  return fmt::format(R"({{"type":"managed","file_system":{},"network":"{}"}})", file_system, network);
}
std::string Restricted(const Strings& entries, std::string_view network = "restricted") {
  return Managed(fmt::format(R"({{"type":"restricted","entries":[{}]}})", fmt::join(entries, ",")), network);
}

Strings Workspace(const Strings& more = {}) {
  Strings entries = {Special("root", "read"), Special("project_roots", "write")};
  entries.insert(entries.end(), more.begin(), more.end());
  return entries;
}

std::string Profile(Policy policy) {
  switch (policy) {
    case Policy::kReadOnly:
    case Policy::kProxy:
    case Policy::kProxyNoBinding:
      return Restricted({Special("root", "read")});
    case Policy::kWorkspace:
    case Policy::kLinked:
      return Restricted(Workspace());
    case Policy::kNamed:
      return Restricted(
          Workspace({Path("{ws}/.git", "read"), Path("{ws}/.codex", "read"), Path("{ws}/.agents/in", "deny")}));
    case Policy::kNetwork:
      return Restricted(Workspace(), "enabled");
    case Policy::kWide:
      return Restricted(Workspace({Path("{d}", "write")}));
    case Policy::kNested:
      return Restricted(Workspace({Path("{ws}", "write")}));
    case Policy::kPointer:
      return Restricted(Workspace({Path("{store}", "write")}));
    case Policy::kLocked:
      return Restricted(Workspace({Path("{ws}/lvl1/lvl2/locked", "read")}));
    case Policy::kDenied:
      return Restricted(
          Workspace({Path("{out}/secret.txt", "deny"), Path("{out}/secrets", "deny"), Path("{ws}/private", "deny")}));
    case Policy::kRootWrite:
      return Restricted({Special("root", "write"), Path("{out}/secret.txt", "deny"), Path("{out}/secrets", "deny"),
                         Path("{ws}/private", "deny"), Path("/.git", "write"), Path("/.agents", "write"),
                         Path("/.codex", "write"), Path("/.aws", "write")});
    case Policy::kDeniedMissing:
      return Restricted(Workspace({Path("{ws}/nope/deep", "deny")}));
    case Policy::kDeniedPatterns:
      return Restricted(Workspace({Pattern("{ws}/**/*.env", "deny")}));
    case Policy::kReopened:
      return Restricted(Workspace({Path("{ws}/private", "deny"), Path("{ws}/private/open", "write")}));
    case Policy::kMinimal:
      return Restricted({Special("minimal", "read"), Special("project_roots", "write"), Path("{bin}", "read")});
    case Policy::kAnyFile:
      return Managed(R"({"type":"unrestricted"})", "restricted");
  }
  return "";
}

std::string_view Project(Policy policy) {
  if (policy == Policy::kNested) return "{ws}/lvl1/lvl2";
  if (policy == Policy::kPointer) return "{tree}";
  return policy == Policy::kLinked ? "{linked}" : "{ws}";
}

}  // namespace

Strings FlagsFor(Policy policy, const Places& places) {
  Strings flags = {"--sandbox-policy-cwd", Fill(Project(policy), places), "--permission-profile",
                   Fill(Profile(policy), places)};
  if (policy == Policy::kProxy) flags.emplace_back("--allow-network-for-proxy");
  if (policy == Policy::kProxyNoBinding) {
    flags.emplace_back("--managed-network");
    flags.push_back(Fill(R"({"loopbackPorts":[{tcp}],"allowLocalBinding":false})", places));
  }
  return flags;
}

Strings EnvironmentFor(Policy policy, const Places& places) {
  if (policy != Policy::kProxy && policy != Policy::kProxyNoBinding) return {};
  return {Fill("HTTP_PROXY=http://127.0.0.1:{tcp}", places)};
}

}  // namespace holdfast::sandboxee
