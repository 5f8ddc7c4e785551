// The schemas of structs and enums: how a SchemaBook makes them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "wire/field_schemas.h"
#include "wire/field_types.h"
#include "wire/object_schema.h"
#include "wire/schema_book.h"

namespace holdfast::wire {

// A type without a field list, such as one that is a word or an object, has its schema as text.
template <typename T>
concept DescribedByHand = requires { T::kSchema; };

template <typename T>
std::string NameOfType() {
  return NameInSignature(__PRETTY_FUNCTION__);
}

// Walks the fields once more for each optional member, because others may be required only where it has no value.
template <typename T>
ObjectSchema SchemaBook::Describe(Sender sender) {
  T message{};
  FieldSchemas fields(*this, sender, std::nullopt);
  message.Fields(fields);
  for (size_t i = 0; i < fields.optionals().size(); ++i) {
    T other{};
    FieldSchemas given(*this, sender, i);
    other.Fields(given);
    fields.described().AddAlternative(fields.optionals()[i], given.described());
  }
  return fields.described();
}

template <typename T>
std::string SchemaBook::Of(std::type_identity<T>, Sender sender) {
  const std::string name = NameOfType<T>();
  std::string schema;
  if constexpr (DescribedByHand<T>) {
    schema = T::kSchema;
  } else if constexpr (NamedEnum<T>) {
    std::vector<std::string_view> names;
    names.reserve(EnumNames<T>::kNames.size());
    for (const auto& [text, value] : EnumNames<T>::kNames) names.push_back(text);
    schema = EnumSchema(names);
  } else {
    const ObjectSchema object = Describe<T>(sender);
    schema = object.Text();
    members_[name] = object.members();
  }
  // A struct of two schemas would be one that both sides send, and that only one of them may send in part.
  CHECK(named_.emplace(name, schema).first->second == schema);
  return ReferenceTo(name);
}

}  // namespace holdfast::wire
