// A Decoder fills a struct from JSON by the fields that the struct lists in Fields(). It ignores other members, because
// peers of several versions send more than we know; a struct of rules refuses them, because a rule that is not
// understood would not be enforced. The first fault names its path: `env.A: expected a string, got a number`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/field_types.h"
#include "wire/json.h"
#include "wire/read_value.h"

namespace holdfast::wire {

class Decoder;

template <typename T>
concept Message = requires(T message, Decoder& decoder) { message.Fields(decoder); };

class Decoder {
 public:
  explicit Decoder(Json object) : object_(object) {}

  // Makes every member that the field list does not name a fault. Fields() must call this before it names a field.
  void RefuseUnknown() { refuses_unknown_ = true; }

  // Names a member that is allowed but not read.
  void Known(const char* name) {
    if (refuses_unknown_) known_.emplace_back(name);
  }

  template <typename T>
  void Required(const char* name, T& value) {
    Known(name);
    Json member = object_.Find(name);
    if (member.is_absent()) return Fault(name, "is missing");
    Member(name, member, value);
  }

  // A member that is absent leaves `value` at its default; null is a fault unless T is an optional.
  template <typename T>
  void Optional(const char* name, T& value) {
    Known(name);
    Json member = object_.Find(name);
    if (!member.is_absent()) Member(name, member, value);
  }

  // A member whose absence means the same as null. An encoder writes null for a value that is not there.
  template <typename T>
  void Nullable(const char* name, std::optional<T>& value) {
    Optional(name, value);
  }

  // Records the first fault. A field list calls this itself for a rule about several fields.
  void Fault(std::string_view path, std::string_view problem);

  // Records a fault if the object has a member that is refused. Must be called after Fields().
  void Finish();

  Json object() const { return object_; }
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  template <typename T>
  void Member(std::string_view name, Json json, T& value) {
    if (fault_) return;
    Value(json, value);
    if (fault_) Prefix(name);
  }

  template <typename T>
    requires requires(Json json, T& value) { ReadValue(json, value); }
  void Value(Json json, T& value) {
    fault_ = ReadValue(json, value);
  }
  void Value(Json json, StringMap& value);

  template <typename T>
  void Value(Json json, std::optional<T>& value) {
    if (json.is_null()) return value.reset();
    Value(json, value.emplace());
  }

  template <typename T>
  void Value(Json json, std::vector<T>& value) {
    if (!json.is_array()) return Expected("an array", json);
    value.resize(json.size());
    for (size_t i = 0; i < value.size(); ++i) Member(std::to_string(i), json.at(i), value[i]);
  }

  template <Message T>
  void Value(Json json, T& value) {
    if (!json.is_object()) return Expected("an object", json);
    Decoder nested(json);
    value.Fields(nested);
    nested.Finish();
    fault_ = std::move(nested.fault_);
  }

  void Expected(std::string_view what, Json got) { fault_ = ExpectedFault(what, got); }
  void Prefix(std::string_view name);

  Json object_;
  bool refuses_unknown_ = false;
  std::vector<std::string_view> known_;  // filled only if unknown members are refused
  std::optional<std::string> fault_;     // "path: problem" once something is wrong
};

}  // namespace holdfast::wire
