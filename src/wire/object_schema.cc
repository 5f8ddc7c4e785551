#include "wire/object_schema.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "wire/json_text.h"

namespace holdfast::wire {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendString(out, text);
  return out;
}

std::string QuotedList(std::span<const std::string> names) {
  std::vector<std::string> quoted;
  quoted.reserve(names.size());
  for (const std::string& name : names) quoted.push_back(Quoted(name));
  return fmt::format("[{}]", fmt::join(quoted, ","));
}

bool Contains(const MemberNames& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

// An object that has these members.
std::string Having(const MemberNames& names) { return fmt::format(R"({{"required":{}}})", QuotedList(names)); }

// An object in which this member has a value other than null.
std::string Giving(const std::string& name) {
  return fmt::format(R"({{"required":[{0}],"properties":{{{0}:{{"not":{{"type":"null"}}}}}}}})", Quoted(name));
}

}  // namespace

void ObjectSchema::RequireExactlyOne(const MemberNames& names) {
  std::vector<std::string> choices;
  choices.reserve(names.size());
  for (const std::string& name : names) choices.push_back(Giving(name));
  rules_.push_back(fmt::format(R"({{"oneOf":[{}]}})", fmt::join(choices, ",")));
}

void ObjectSchema::RequireAtLeastOne(const std::vector<MemberNames>& groups) {
  std::vector<std::string> choices;
  choices.reserve(groups.size());
  for (const MemberNames& names : groups) choices.push_back(Having(names));
  rules_.push_back(fmt::format(R"({{"anyOf":[{}]}})", fmt::join(choices, ",")));
}

void ObjectSchema::AddAlternative(const std::string& name, const ObjectSchema& given) {
  const MemberNames still_required = given.Required();
  MemberNames replaced;
  for (MemberSchema& member : members_) {
    if (!member.required || Contains(still_required, member.name)) continue;
    member.required = false;
    replaced.push_back(member.name);
  }
  if (!replaced.empty()) rules_.push_back(fmt::format(R"({{"anyOf":[{},{}]}})", Having(replaced), Giving(name)));
}

MemberNames ObjectSchema::Required() const {
  MemberNames names;
  for (const MemberSchema& member : members_) {
    if (member.required) names.push_back(member.name);
  }
  return names;
}

std::string ObjectSchema::Text() const {
  std::string text = R"({"type":"object")";
  std::vector<std::string> properties;
  properties.reserve(members_.size());
  for (const MemberSchema& member : members_) properties.push_back(Quoted(member.name) + ":" + member.schema);
  if (!properties.empty()) text += fmt::format(R"(,"properties":{{{}}})", fmt::join(properties, ","));
  if (const MemberNames required = Required(); !required.empty()) text += R"(,"required":)" + QuotedList(required);
  if (closed_) text += R"(,"additionalProperties":false)";
  if (!rules_.empty()) text += fmt::format(R"(,"allOf":[{}])", fmt::join(rules_, ","));
  return text + "}";
}

MemberSchema Described(std::string_view name, std::string_view type, std::string_view meaning) {
  return {std::string(name), fmt::format(R"({{"type":"{}","description":{}}})", type, Quoted(meaning)), false};
}

std::string OrNull(std::string_view schema) {
  constexpr std::string_view kPlain = R"({"type":")";
  if (!schema.starts_with(kPlain)) return fmt::format(R"({{"anyOf":[{},{{"type":"null"}}]}})", schema);
  const size_t end = schema.find('"', kPlain.size());
  return fmt::format(R"({{"type":["{}","null"]{})", schema.substr(kPlain.size(), end - kPlain.size()),
                     schema.substr(end + 1));
}

std::string EnumSchema(std::span<const std::string_view> names) {
  std::vector<std::string> quoted;
  quoted.reserve(names.size());
  for (const std::string_view name : names) quoted.push_back(Quoted(name));
  return fmt::format(R"({{"type":"string","enum":[{}]}})", fmt::join(quoted, ","));
}

std::string ReferenceTo(std::string_view name) {
  return R"({"$ref":)" + Quoted("#/components/schemas/" + std::string(name)) + "}";
}

// The signature ends with `[T = holdfast::wire::Sandboxed<holdfast::wire::FsPathParams>]`.
std::string NameInSignature(std::string_view signature) {
  constexpr std::string_view kBegin = "[T = ";
  std::string_view rest = signature.substr(signature.find(kBegin) + kBegin.size());
  rest.remove_suffix(1);
  std::string name;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find_first_of(":<>"));
    rest.remove_prefix(word.size());
    const bool is_namespace = rest.starts_with("::");
    if (!is_namespace) name += word;
    rest.remove_prefix(std::min<size_t>(rest.size(), is_namespace ? 2 : 1));
  }
  return name;
}

}  // namespace holdfast::wire
