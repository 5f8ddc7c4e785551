// FieldSchemas is the third walker of Fields, beside the Decoder and the Encoder: it describes the struct whose Fields
// it is passed to, so that a description has the members that are sent, and no others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/field_types.h"
#include "wire/object_schema.h"
#include "wire/schema_book.h"

namespace holdfast::wire {

class FieldSchemas {
 public:
  static constexpr bool kDescribes = true;

  // In this walk the optional member of the number `given` has a value, and the others have none.
  FieldSchemas(SchemaBook& book, Sender sender, std::optional<size_t> given)
      : book_(book), sender_(sender), given_(given) {}

  template <typename T>
  void Required(const char* name, T&) {
    object_.Add({name, book_.Of<T>(sender_), true});
  }

  template <typename T>
  void Optional(const char* name, T&) {
    object_.Add({name, book_.Of<T>(sender_), sender_ == Sender::kServer && !std::is_same_v<T, Given>});
  }

  template <typename T>
  void Optional(const char* name, std::optional<T>& value) {
    if (optionals_.size() == given_) value.emplace();
    optionals_.emplace_back(name);
    const std::string schema = book_.Of<T>(sender_);
    object_.Add({name, sender_ == Sender::kClient ? OrNull(schema) : schema, false});
  }

  template <typename T>
  void Nullable(const char* name, std::optional<T>&) {
    object_.Add({name, OrNull(book_.Of<T>(sender_)), sender_ == Sender::kServer});
  }

  // These name members that have no type of their own, and what holds for several members.
  void String(const char* name, std::string_view meaning) { object_.Add(Described(name, "string", meaning)); }
  void Object(const char* name, std::string_view meaning) { object_.Add(Described(name, "object", meaning)); }
  void RefuseUnknown() { object_.Close(); }
  void ExactlyOne(const MemberNames& names) { object_.RequireExactlyOne(names); }
  void AtLeastOne(const std::vector<MemberNames>& groups) { object_.RequireAtLeastOne(groups); }

  const MemberNames& optionals() const { return optionals_; }
  ObjectSchema& described() { return object_; }

 private:
  SchemaBook& book_;
  const Sender sender_;
  const std::optional<size_t> given_;
  MemberNames optionals_;
  ObjectSchema object_;
};

}  // namespace holdfast::wire
