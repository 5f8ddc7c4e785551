#include "sandbox/policy/builtin_policies.h"

#include <gtest/gtest.h>

#include "sandbox/policy/policy_text.h"

namespace holdfast::sandbox {
namespace {

TEST(BuiltinPoliciesTest, AreWhatTheirNamesSay) {
  EXPECT_EQ(Text(*BuiltinPolicy("read-only")), ":root read");
  EXPECT_EQ(Text(*BuiltinPolicy("workspace-write")), ":root read, :project write, :slash_tmp write, :tmpdir write");
}

TEST(BuiltinPoliciesTest, OtherNamesHaveNone) {
  for (const std::string_view name : {"", "read", "Read-Only", "danger-full-access"}) {
    EXPECT_FALSE(BuiltinPolicy(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace holdfast::sandbox
