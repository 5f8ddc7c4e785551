#include "skills/plugin.h"

#include <string>

#include <gtest/gtest.h>

namespace holdfast::skills {
namespace {

std::string FileOf(std::string_view manifest) {
  const ManifestFile file = FileNamedBy(manifest, "mcpServers", "default");
  return file.relative_path + (file.complaint.empty() ? "" : "!");
}

TEST(PluginManifestTest, HasANameAndADisplayName) {
  const auto manifest = ReadPluginManifest(R"({"name":"n","interface":{"displayName":" A  b "},"more":3})");
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->name, "n");
  EXPECT_EQ(manifest->display_name, "A  b");
  EXPECT_FALSE(manifest->inline_servers);
}

TEST(PluginManifestTest, MayLackBoth) {
  for (const char* text : {"{}", R"({"name":" "})", R"({"interface":null})", R"({"interface":{"displayName":" "}})"}) {
    const auto manifest = ReadPluginManifest(text);
    ASSERT_TRUE(manifest) << text;
    EXPECT_EQ(manifest->name, "");
    EXPECT_FALSE(manifest->display_name);
  }
}

TEST(PluginManifestTest, IsRefusedIfItsMembersAreOfTheWrongKind) {
  for (const char* text :
       {"", "nope", "[]", R"({"name":3})", R"({"name":null})", R"({"name":"a","name":"b"})", R"({"interface":[]})",
        R"({"interface":{"displayName":4}})", R"({"apps":3})", "{} x", "\xEF\xBB\xBF{}"}) {
    EXPECT_FALSE(ReadPluginManifest(text)) << text;
  }
}

TEST(PluginManifestTest, MayHaveItsServersInline) {
  const auto manifest = ReadPluginManifest(R"({"mcpServers": {"a": {"command": "x"}}})");
  ASSERT_TRUE(manifest);
  EXPECT_EQ(manifest->inline_servers, R"({"a":{"command":"x"}})");
  EXPECT_EQ(FileOf(R"({"mcpServers": {"a": {"command": "x"}}})"), "");
}

TEST(PluginManifestTest, NamesFilesBelowThePlugin) {
  EXPECT_EQ(FileOf(R"({"mcpServers":"./a/./b.json"})"), "a/b.json");
  for (const char* text : {R"({"mcpServers":"a.json"})", R"({"mcpServers":"/etc/passwd"})", R"({"mcpServers":""})",
                           R"({"mcpServers":"./../x"})", R"({"mcpServers":"./a/../b"})", R"({"mcpServers":"./"})"}) {
    EXPECT_EQ(FileOf(text), "default!") << text;
  }
  for (const char* text : {"{}", "nope", "[]", R"({"mcpServers":3})", R"({"mcpServers":["./a"]})"}) {
    EXPECT_EQ(FileOf(text), "default") << text;
  }
}

}  // namespace
}  // namespace holdfast::skills
