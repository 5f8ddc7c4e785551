#include "support/sandbox_workspace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

constexpr uid_t kOrdinaryUser = 1000;
constexpr std::string_view kPath = "/usr/bin:/bin";
constexpr std::string_view kNowhere = "/nonexistent";

// HOLDFAST_BINARY in the environment names another binary than the one of this build.
fs::path ProgramFolder() {
  const char* other = std::getenv("HOLDFAST_BINARY");
  return fs::path(other != nullptr ? other : HOLDFAST_BINARY).parent_path();
}

std::string Profile(const Strings& entries) {
  std::string all = PlaceEntry("root", "read");
  for (const char* kind : {"project_roots", "tmpdir"}) all += "," + PlaceEntry(kind, "write");
  for (const std::string& entry : entries) all += "," + entry;
  return fmt::format(
      R"({{"type":"managed","file_system":{{"type":"restricted","entries":[{}]}},"network":"restricted"}})", all);
}

std::string_view NameOf(Means means) {
  switch (means) {
    case Means::kNative:
      return "Native";
    case Means::kSystemBubblewrap:
      return "SystemBubblewrap";
    case Means::kBundledBubblewrap:
      return "BundledBubblewrap";
  }
  return "";
}

void Give(const std::string& path, uid_t user) { EXPECT_EQ(::chown(path.c_str(), user, user), 0) << path; }

}  // namespace

std::vector<SandboxCase> UsersWith(const std::vector<Means>& all_means) {
  std::vector<SandboxCase> cases;
  for (const Means means : all_means) {
    cases.push_back({::geteuid(), means});
    if (::geteuid() == 0) cases.push_back({kOrdinaryUser, means});
  }
  return cases;
}

std::string CaseName(const testing::TestParamInfo<SandboxCase>& info) {
  return fmt::format("As{}By{}", info.param.user == 0 ? "Root" : "User", NameOf(info.param.means));
}

std::string PathEntry(std::string_view path, std::string_view access) {
  return fmt::format(R"({{"path":{{"type":"path","path":"{}"}},"access":"{}"}})", path, access);
}

std::string WorkspaceEntry(std::string_view name, std::string_view access) {
  return fmt::format(
      R"({{"path":{{"type":"special","value":{{"kind":"project_roots","subpath":"{}"}}}},"access":"{}"}})", name,
      access);
}

std::string PlaceEntry(std::string_view kind, std::string_view access) {
  return fmt::format(R"({{"path":{{"type":"special","value":{{"kind":"{}"}}}},"access":"{}"}})", kind, access);
}

// The programs are copied to where every user can reach them.
SandboxWorkspace::SandboxWorkspace(SandboxCase which) : which_(which) {
  fs::copy(ProgramFolder() / "holdfast-linux-sandbox", programs_.path());
  fs::copy(ProgramFolder() / "holdfast-resources", programs_.path() + "/holdfast-resources");
  EXPECT_EQ(::chmod(programs_.path().c_str(), 0755), 0);
  for (const std::string& one : {path(), home(), tmpdir(), elsewhere()}) Give(one, which_.user);
  // The sanitizer does not look for leaks, because that needs ptrace, which the filter of the sandbox refuses.
  environment_ = {"HOME=" + home(), "TMPDIR=" + tmpdir(), "LANG=C.UTF-8", "ASAN_OPTIONS=detect_leaks=0"};
}

std::string SandboxWorkspace::WhyNot() const {
  const bool is_native = which_.means == Means::kNative;
  const char* const trial = is_native ? "unshare --user true" : "bwrap --unshare-user --ro-bind / / true";
  if (Outside(trial).status == 0) return "";
  return is_native ? "user namespaces are not available" : "bubblewrap, or user namespaces, are not available";
}

// The command gets nothing of the test's own environment.
Strings SandboxWorkspace::AsUser(std::string_view path_variable, const Strings& words) const {
  const std::string user = std::to_string(which_.user);
  Strings all;
  if (which_.user != ::geteuid()) all = {"setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"};
  all.insert(all.end(), {"env", "-i", fmt::format("PATH={}", path_variable)});
  all.insert(all.end(), environment_.begin(), environment_.end());
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

// Without a bubblewrap on PATH the helper uses the bundled one. The command finds its programs nevertheless.
Strings SandboxWorkspace::InsideWords(const std::string& script, const Strings& entries) const {
  const std::string_view path_variable = which_.means == Means::kBundledBubblewrap ? kNowhere : kPath;
  const std::string backend = which_.means == Means::kNative ? "native" : "bubblewrap";
  return AsUser(path_variable, {programs_.path() + "/holdfast-linux-sandbox", "--backend", backend,
                                "--sandbox-policy-cwd", path(), "--permission-profile", Profile(entries), "--",
                                "/usr/bin/env", fmt::format("PATH={}", kPath), "bash", "-c", script});
}

Outcome SandboxWorkspace::Inside(const std::string& script, const Strings& entries) const {
  return Program(InsideWords(script, entries)).Finish();
}

Outcome SandboxWorkspace::Outside(const std::string& script) const {
  return Program(AsUser(kPath, {"bash", "-c", "cd " + path() + "\n" + script})).Finish();
}

}  // namespace holdfast::support
