// The metadata of a skill: the parts of its agents/openai.yaml that a client acts on.
#pragma once

#include <optional>
#include <string_view>

#include "wire/installed_messages.h"

namespace holdfast::skills {

struct SkillMetadata {
  std::optional<wire::SkillDependencies> dependencies;
  std::optional<wire::SkillPolicy> policy;
};

// A file with a member of the wrong kind says nothing at all, and a tool without a type or a value does not count.
SkillMetadata ReadSkillMetadata(std::string_view text);

}  // namespace holdfast::skills
