// A workspace of one user, and commands in it: under the sandbox helper of this build, or without. Everything may be
// read; the workspace and $TMPDIR may be written, but not the home directory. There is no network.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/program.h"
#include "support/scratch_dir.h"

namespace holdfast::support {

enum class Bubblewrap { kSystem, kBundled };

struct SandboxCase {
  uid_t user;
  Bubblewrap bubblewrap;
};

// Root and an ordinary user; for a test that is no root, that user alone.
std::vector<SandboxCase> UsersWith(const std::vector<Bubblewrap>& bubblewraps);
std::string CaseName(const testing::TestParamInfo<SandboxCase>& info);

// An entry of a profile: a path, a name in the workspace, or a place of the system's.
std::string PathEntry(std::string_view path, std::string_view access);
std::string WorkspaceEntry(std::string_view name, std::string_view access);
std::string PlaceEntry(std::string_view kind, std::string_view access);

class SandboxWorkspace {
 public:
  explicit SandboxWorkspace(SandboxCase which);

  // Of a test that then skips itself; empty when all is well.
  std::string WhyNot() const;

  const std::string& path() const { return workspace_.path(); }
  const std::string& home() const { return home_.path(); }
  const std::string& tmpdir() const { return tmpdir_.path(); }
  // Belongs to the user, and may only be read.
  const std::string& elsewhere() const { return elsewhere_.path(); }

  // Copies of the helper and the bundled bubblewrap, which every user can execute.
  const std::string& programs() const { return programs_.path(); }

  // NAME=value, in the environment of all that is run.
  void AddVariable(const std::string& assignment) { environment_.push_back(assignment); }

  // A script of bash, in the workspace.
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
