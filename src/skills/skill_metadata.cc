#include "skills/skill_metadata.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "skills/front_matter.h"
#include "skills/yaml.h"

namespace holdfast::skills {
namespace {

constexpr size_t kMaxTypeBytes = 64;
constexpr size_t kMaxTextBytes = 1024;

// A product has two spellings, and the result has the first one.
constexpr std::array<std::array<std::string_view, 2>, 3> kProducts{
    {{"chatgpt", "CHATGPT"}, {"codex", "CODEX"}, {"atlas", "ATLAS"}}};

std::unexpected<Error> WrongKind(std::string_view key) {
  return Fail(ErrorKind::kInvalidParams, std::string(key) + ": is of the wrong kind");
}

// Returns a member, or null if it is absent or null itself.
const Yaml* Member(const Yaml& mapping, std::string_view key) {
  const Yaml* const member = mapping.Find(key);
  return member == nullptr || member->is_null() ? nullptr : member;
}

// Returns a text of the tool, or nothing if there is none that a client could use.
std::optional<std::string> ToolText(const Yaml& tool, std::string_view key, size_t max_bytes = kMaxTextBytes) {
  const Yaml* const member = Member(tool, key);
  if (member == nullptr || member->text() == nullptr) return std::nullopt;
  std::string text = OnOneLine(*member->text());
  if (text.empty() || text.size() > max_bytes) return std::nullopt;
  return text;
}

std::optional<uint16_t> CallbackPort(const Yaml& tool) {
  const Yaml* const oauth = Member(tool, "oauth");
  const Yaml* const port = oauth == nullptr ? nullptr : Member(*oauth, "callback_port");
  if (port == nullptr || port->text() == nullptr) return std::nullopt;
  const std::string& text = *port->text();
  uint16_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<wire::SkillDependencies> Dependencies(const Yaml& tools) {
  wire::SkillDependencies dependencies;
  for (const Yaml& tool : tools.items()) {
    auto type = ToolText(tool, "type", kMaxTypeBytes);
    auto value = ToolText(tool, "value");
    if (!type || !value) continue;
    dependencies.tools.push_back({.type = *std::move(type),
                                  .value = *std::move(value),
                                  .description = ToolText(tool, "description"),
                                  .transport = ToolText(tool, "transport"),
                                  .command = ToolText(tool, "command"),
                                  .url = ToolText(tool, "url"),
                                  .oauth_callback_port = CallbackPort(tool)});
  }
  if (dependencies.tools.empty()) return std::nullopt;
  return dependencies;
}

Result<std::string> Product(const Yaml& item) {
  for (const auto& [product, capitals] : kProducts) {
    if (item.text() != nullptr && (*item.text() == product || *item.text() == capitals)) return std::string(product);
  }
  return WrongKind("products");
}

Result<wire::SkillPolicy> Policy(const Yaml& yaml) {
  if (!yaml.is_mapping()) return WrongKind("policy");
  wire::SkillPolicy policy;
  if (const Yaml* const allow = Member(yaml, "allow_implicit_invocation"); allow != nullptr) {
    policy.allow_implicit_invocation = allow->boolean();
    if (!policy.allow_implicit_invocation) return WrongKind("allow_implicit_invocation");
  }
  if (const Yaml* const products = yaml.Find("products"); products != nullptr) {
    if (products->kind() != Yaml::Kind::kSequence) return WrongKind("products");
    for (const Yaml& item : products->items()) {
      TRY(std::string product, Product(item));
      policy.products.push_back(std::move(product));
    }
  }
  return policy;
}

Result<SkillMetadata> Read(std::string_view text) {
  TRY(const Yaml yaml, Yaml::Parse(text));
  SkillMetadata metadata;
  if (const Yaml* const interface = Member(yaml, "interface"); interface != nullptr && !interface->is_mapping()) {
    return WrongKind("interface");
  }
  if (const Yaml* const policy = Member(yaml, "policy"); policy != nullptr) {
    TRY(metadata.policy, Policy(*policy));
  }
  if (const Yaml* const dependencies = Member(yaml, "dependencies"); dependencies != nullptr) {
    if (!dependencies->is_mapping()) return WrongKind("dependencies");
    const Yaml* const tools = Member(*dependencies, "tools");
    if (tools != nullptr && tools->kind() != Yaml::Kind::kSequence) return WrongKind("tools");
    if (tools != nullptr) metadata.dependencies = Dependencies(*tools);
  }
  return metadata;
}

}  // namespace

SkillMetadata ReadSkillMetadata(std::string_view text) { return Read(text).value_or(SkillMetadata{}); }

}  // namespace holdfast::skills
