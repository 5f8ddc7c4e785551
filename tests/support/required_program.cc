#include "support/required_program.h"

#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

namespace holdfast::support {
namespace {

void Skip(const std::string& why_not) { GTEST_SKIP() << why_not; }

std::string WhyNotInstalled(const std::string& name) { return PathOfProgram(name) ? "" : name + " is not installed"; }

}  // namespace

std::optional<std::string> PathOfProgram(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/bin/"}) {
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return std::nullopt;
}

bool WantProgram(const std::string& name) {
  const std::string why_not = WhyNotInstalled(name);
  if (!why_not.empty()) Skip(why_not);
  return why_not.empty();
}

bool RequireProgram(const std::string& name) { return RequireAvailable(WhyNotInstalled(name)); }

bool RequireAvailable(const std::string& why_not) {
  if (why_not.empty()) return true;
  if (std::getenv("HOLDFAST_CI") == nullptr) {
    Skip(why_not);
  } else {
    ADD_FAILURE() << why_not;
  }
  return false;
}

}  // namespace holdfast::support
