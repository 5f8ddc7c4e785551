#include "skills/front_matter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "skills/yaml.h"

namespace holdfast::skills {
namespace {

constexpr std::string_view kFence = "---";
constexpr std::string_view kBlanks = " \t\r\n\f\v";

std::unexpected<Error> Refuse(std::string message) { return Fail(ErrorKind::kInvalidParams, std::move(message)); }

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Takes the first line off `rest`, with its line feed.
std::string_view TakeLine(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

// Returns the YAML between the fences of a front matter.
std::string_view Inner(std::string_view front_matter) {
  (void)TakeLine(front_matter);
  const size_t last_line = Trimmed(front_matter) == kFence ? 0 : front_matter.rfind('\n', front_matter.size() - 2) + 1;
  return front_matter.substr(0, last_line);
}

bool IsKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// Returns the line with its value in quotes if it is `key: value` and the value is plain text.
std::string WithQuotes(std::string_view line) {
  const size_t key = line.find_first_not_of(" -");
  const size_t colon = line.find(": ", key == std::string_view::npos ? line.size() : key);
  if (colon == std::string_view::npos) return std::string(line);
  if (!std::ranges::all_of(line.substr(key, colon - key), IsKeyCharacter)) return std::string(line);
  std::string_view value = Trimmed(line.substr(colon + 1));
  if (const size_t comment = value.find(" #"); comment != std::string_view::npos)
    value = Trimmed(value.substr(0, comment));
  if (value.empty() || std::string_view("\"'|>&*!%#{-?").contains(value.front())) return std::string(line);
  std::string quoted(line.substr(0, colon + 1));
  quoted += " '";
  for (const char c : value) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

Result<Yaml> ParseLeniently(std::string_view text) {
  auto parsed = Yaml::Parse(text);
  if (parsed) return parsed;
  std::string quoted;
  while (!text.empty()) quoted += WithQuotes(TakeLine(text)) + "\n";
  auto again = Yaml::Parse(quoted);
  return again ? std::move(again) : std::move(parsed);
}

// Returns the text of a member, empty if it is absent or null.
Result<std::string> TextOf(const Yaml& mapping, std::string_view key) {
  const Yaml* const member = mapping.Find(key);
  if (member == nullptr || member->is_null()) return std::string();
  if (member->text() == nullptr) return Refuse(std::string(key) + ": is not a text");
  return OnOneLine(*member->text());
}

}  // namespace

std::string OnOneLine(std::string_view text) {
  std::string line;
  for (std::string_view rest = Trimmed(text); !rest.empty(); rest = Trimmed(rest)) {
    const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
    if (!line.empty()) line += ' ';
    line += word;
    rest.remove_prefix(word.size());
  }
  return line;
}

size_t FrontMatterLength(std::string_view text) {
  std::string_view rest = text;
  if (Trimmed(TakeLine(rest)) != kFence) return 0;
  while (!rest.empty()) {
    if (Trimmed(TakeLine(rest)) == kFence) return text.size() - rest.size();
  }
  return 0;
}

Result<SkillHead> ReadFrontMatter(std::string_view text) {
  const size_t length = FrontMatterLength(text);
  if (length == 0) return Refuse("there is no front matter");
  TRY(const Yaml yaml, ParseLeniently(Inner(text.substr(0, length))));
  if (!yaml.is_mapping()) return Refuse("the front matter has no members");
  SkillHead head;
  TRY(head.name, TextOf(yaml, "name"));
  TRY(head.description, TextOf(yaml, "description"));
  if (head.description.empty()) return Refuse("description: is missing");
  if (const Yaml* const metadata = yaml.Find("metadata"); metadata != nullptr) {
    if (!metadata->is_mapping()) return Refuse("metadata: has no members");
    TRY(std::string short_description, TextOf(*metadata, "short-description"));
    if (!short_description.empty()) head.short_description = std::move(short_description);
  }
  return head;
}

}  // namespace holdfast::skills
