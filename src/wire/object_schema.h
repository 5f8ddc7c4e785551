// The schema of one kind of JSON object: its members, and what holds for several of them together. All schemas are JSON
// text, in the terms of JSON Schema (draft 7).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::wire {

struct MemberSchema {
  std::string name, schema;
  bool required = false;
};

using MemberNames = std::vector<std::string>;

class ObjectSchema {
 public:
  void Add(MemberSchema member) { members_.push_back(std::move(member)); }

  // No other members may be there.
  void Close() { closed_ = true; }

  // Exactly one of these members has a value other than null.
  void RequireExactlyOne(const MemberNames& names);

  // All members of at least one of these groups are there.
  void RequireAtLeastOne(const std::vector<MemberNames>& groups);

  // Compares the members with those of `given`, the same object where the optional member `name` has a value. The
  // object needs that member, or those that it does not need beside it.
  void AddAlternative(const std::string& name, const ObjectSchema& given);

  const std::vector<MemberSchema>& members() const { return members_; }
  std::string Text() const;

 private:
  MemberNames Required() const;

  std::vector<MemberSchema> members_;
  std::vector<std::string> rules_;  // schemas that the object has to meet as well
  bool closed_ = false;
};

// Returns an optional member of a simple type, with a sentence about it.
MemberSchema Described(std::string_view name, std::string_view type, std::string_view meaning);

// Returns the schema of what `schema` allows, or null.
std::string OrNull(std::string_view schema);

std::string EnumSchema(std::span<const std::string_view> names);

// Returns a reference to a schema of the document that has a name.
std::string ReferenceTo(std::string_view name);

// Returns the name of the type in the signature of a function template, without its namespaces and angle brackets.
std::string NameInSignature(std::string_view signature);

}  // namespace holdfast::wire
