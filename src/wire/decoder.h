// Fills a params struct from JSON: walks the fields it lists in Fields(). Unknown members are ignored, as clients of
// several versions send more than we know; a struct of rules refuses them, because a rule that is not understood would
// not be enforced. The first fault names its path: `env.A: expected a string, got a number`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/field_types.h"
#include "wire/json.h"

namespace holdfast::wire {

class Decoder;

template <typename T>
concept Message = requires(T message, Decoder& decoder) { message.Fields(decoder); };

class Decoder {
 public:
  explicit Decoder(Json object) : object_(object) {}

  // Makes every member that the field list does not ask for a fault. To be called first.
  void RefuseUnknown() { refuses_unknown_ = true; }

  // A member that may be there without being looked at.
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

  // Absent leaves the default; null is a fault unless T is an optional.
  template <typename T>
  void Optional(const char* name, T& value) {
    Known(name);
    Json member = object_.Find(name);
    if (!member.is_absent()) Member(name, member, value);
  }

  // What a field list says about the whole struct, e.g. which of two fields must be there.
  void Fault(std::string_view path, std::string_view problem);

  // To be called last: looks for what the field list did not ask for.
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

  void Value(Json json, std::string& value);
  void Value(Json json, std::string_view& value);  // of the message: for what is too long to copy
  void Value(Json json, bool& value);
  void Value(Json json, uint64_t& value);
  void Value(Json json, uint16_t& value);
  void Value(Json json, StringMap& value);
  void Value(Json json, Given& value) { value.given = !json.is_null(); }
  void Value(Json json, Json& value) { value = json; }  // of the message: for who decodes it later

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

  template <NamedEnum T>
  void Value(Json json, T& value) {
    auto text = json.string();
    if (!text) return Expected("a string", json);
    for (const auto& [name, alternative] : EnumNames<T>::kNames) {
      if (*text != name) continue;
      value = alternative;
      return;
    }
    fault_ = "is not one of the known values";
  }

  template <Message T>
  void Value(Json json, T& value) {
    if (!json.is_object()) return Expected("an object", json);
    Decoder nested(json);
    value.Fields(nested);
    nested.Finish();
    fault_ = std::move(nested.fault_);
  }

  void Expected(std::string_view what, Json got);
  void Prefix(std::string_view name);

  Json object_;
  bool refuses_unknown_ = false;
  std::vector<std::string_view> known_;  // kept if unknown ones are refused
  std::optional<std::string> fault_;     // "path: problem" once something is wrong
};

}  // namespace holdfast::wire
