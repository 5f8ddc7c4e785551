#include "support/required_program.h"

#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

namespace holdfast::support {
namespace {

bool IsInstalled(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/bin/"}) {
    if (::access((folder + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

void Skip(const std::string& name) { GTEST_SKIP() << name << " is not installed"; }

}  // namespace

bool WantProgram(const std::string& name) {
  const bool found = IsInstalled(name);
  if (!found) Skip(name);
  return found;
}

bool RequireProgram(const std::string& name) {
  if (IsInstalled(name)) return true;
  if (std::getenv("HOLDFAST_CI") == nullptr) {
    Skip(name);
  } else {
    ADD_FAILURE() << name << " is not installed";
  }
  return false;
}

}  // namespace holdfast::support
