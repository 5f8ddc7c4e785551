#include "skills/skill_metadata.h"

#include <string>

#include <gtest/gtest.h>

#include "wire/encode.h"

namespace holdfast::skills {
namespace {

std::string DependenciesOf(std::string_view text) {
  const auto metadata = ReadSkillMetadata(text);
  return metadata.dependencies ? wire::Encode(*metadata.dependencies) : "none";
}

std::string PolicyOf(std::string_view text) {
  const auto metadata = ReadSkillMetadata(text);
  return metadata.policy ? wire::Encode(*metadata.policy) : "none";
}

TEST(SkillMetadataTest, HasThePolicy) {
  EXPECT_EQ(PolicyOf("policy:\n  allow_implicit_invocation: false\n"),
            R"({"allowImplicitInvocation":false,"products":[]})");
  EXPECT_EQ(PolicyOf("policy: {products: [codex, CHATGPT, atlas]}"),
            R"({"allowImplicitInvocation":null,"products":["codex","chatgpt","atlas"]})");
  EXPECT_EQ(PolicyOf("policy: {}"), R"({"allowImplicitInvocation":null,"products":[]})");
  EXPECT_EQ(PolicyOf("policy: null"), "none");
}

TEST(SkillMetadataTest, IgnoresAFileThatMakesNoSense) {
  for (const char* text :
       {"", "[]", "nope: [", "policy: 3", "policy: {products: codex}", "policy: {products: [other]}",
        "policy: {products: null}", "policy: {allow_implicit_invocation: 'true'}", "interface: 3\npolicy: {}",
        "policy: {}\npolicy: {}", "policy: {}\n---\na: b", "policy: {}\ndependencies: 3"}) {
    EXPECT_EQ(PolicyOf(text), "none") << text;
  }
}

TEST(SkillMetadataTest, HasTheToolsThatTheSkillNeeds) {
  EXPECT_EQ(DependenciesOf("dependencies:\n  tools:\n  - {type: mcp, value: ' a  b ', description: d, transport: "
                           "streamable_http, url: 'http://x', oauth: {callback_port: 81}}\n"),
            R"({"tools":[{"type":"mcp","value":"a b","description":"d","transport":"streamable_http","command":null,)"
            R"("url":"http://x","oauthCallbackPort":81}]})");
}

TEST(SkillMetadataTest, LeavesOutToolsThatCannotBeNamed) {
  const std::string long_text(1025, 'v');
  EXPECT_EQ(
      DependenciesOf("dependencies:\n  tools: [{value: v}, {type: t}, 3, {type: '', value: v}, {type: t, value: " +
                     long_text + "}]"),
      "none");
  EXPECT_EQ(DependenciesOf("dependencies: {}"), "none");
  EXPECT_EQ(DependenciesOf("dependencies:\n  tools:\n  - {type: t}\n  - {type: 1, value: 2, oauth: "
                           "{callback_port: 70000}, description: " +
                           long_text + "}\n"),
            R"({"tools":[{"type":"1","value":"2","description":null,"transport":null,"command":null,"url":null,)"
            R"("oauthCallbackPort":null}]})");
}

}  // namespace
}  // namespace holdfast::skills
