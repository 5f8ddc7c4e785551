// The front matter of SKILL.md: the YAML between a first line `---` and the next line `---`. The blanks around these
// lines do not count.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::skills {

// Returns the length of the front matter with both of its lines, or 0 if the text does not begin with a front matter
// that is complete.
size_t FrontMatterLength(std::string_view text);

struct SkillHead {
  std::string name;  // empty if the front matter has none
  std::string description;
  std::optional<std::string> short_description;
};

// Reads what the front matter says about the skill. Authors write descriptions without quotes, such as
// `description: Use this: first`, which is not YAML; values of that kind are taken as they stand.
Result<SkillHead> ReadFrontMatter(std::string_view text);

// Returns the text without the white space at its ends, and with one blank in the place of any other.
std::string OnOneLine(std::string_view text);

}  // namespace holdfast::skills
