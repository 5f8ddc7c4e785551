// A sandbox workspace is a directory of one user, in which a test runs commands under the helper of this build, or
// without it. The commands may read everything, and may write the workspace and $TMPDIR but not the home directory.
// They have no network.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::support {

// The means by which the helper builds a sandbox.
enum class Means { kNative, kSystemBubblewrap, kBundledBubblewrap };

struct SandboxCase {
  uid_t user;
  Means means;
};

// Returns cases for root and for an ordinary user; if the test does not run as root, only for its own user.
std::vector<SandboxCase> UsersWith(const std::vector<Means>& all_means);
std::string CaseName(const testing::TestParamInfo<SandboxCase>& info);

// These functions return an entry of a profile, for a path, a name in the workspace, or a special place.
std::string PathEntry(std::string_view path, std::string_view access);
std::string WorkspaceEntry(std::string_view name, std::string_view access);
std::string PlaceEntry(std::string_view kind, std::string_view access);

class SandboxWorkspace {
 public:
  explicit SandboxWorkspace(SandboxCase which);

  // Returns the reason why the workspace cannot be used, with which a test skips itself; empty if it can.
  std::string WhyNot() const;

  const std::string& path() const { return workspace_.path(); }
  const std::string& home() const { return home_.path(); }
  const std::string& tmpdir() const { return tmpdir_.path(); }
  // A directory that belongs to the user and may only be read.
  const std::string& elsewhere() const { return elsewhere_.path(); }

  // The directory with copies of the helper and the bundled bubblewrap, which every user can execute.
  const std::string& programs() const { return programs_.path(); }

  // Adds NAME=value to the environment of every command that is run.
  void AddVariable(const std::string& assignment) { environment_.push_back(assignment); }

  // These functions run a bash script in the workspace; InsideWords only returns the command line for that.
  std::vector<std::string> InsideWords(const std::string& script, const std::vector<std::string>& entries = {}) const;
  Outcome Inside(const std::string& script, const std::vector<std::string>& entries = {}) const;
  Outcome Outside(const std::string& script) const;

 private:
  std::vector<std::string> AsUser(std::string_view path_variable, const std::vector<std::string>& words) const;

  SandboxCase which_;
  ScratchDir workspace_, home_, tmpdir_, elsewhere_;
  ScratchDir programs_{"/var/tmp"};  // a policy that opens /tmp must not open these
  std::vector<std::string> environment_;
};

}  // namespace holdfast::support
