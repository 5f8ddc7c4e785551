// An Encoder writes JSON text straight into a string. A struct lists its fields once in Fields(), and the Encoder walks
// that list, as the Decoder does.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/decode.h"
#include "wire/field_types.h"
#include "wire/json_text.h"

namespace holdfast::wire {

class Encoder;

template <typename T>
concept Encodable = requires(T value, Encoder& encoder) { value.Fields(encoder); };

// A type that has its JSON already, as a sandbox which a client passes on.
template <typename T>
concept EncodedBefore = requires(const T& value) { value.json().text; };

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  template <typename T>
  void Required(const char* name, T& value) {
    Key(name);
    Value(value);
  }

  // Writes the member if it has a value. A member that is not a std::optional always has one; only a decoder accepts
  // that it is absent.
  template <typename T>
  void Optional(const char* name, T& value) {
    if (HasValue(value)) Required(name, value);
  }

  // Writes null if there is no value.
  template <typename T>
  void Nullable(const char* name, std::optional<T>& value) {
    Required(name, value);
  }

  void Value(const std::string& value) { AppendString(out_, value); }
  void Value(std::string_view value) { AppendString(out_, value); }
  void Value(const Bytes& value) { AppendBase64(out_, value.view()); }
  void Value(const RawJson& value) { out_ += value.text; }
  void Value(const EncodedBefore auto& value) { Value(value.json()); }
  void Value(const Given& value) { Value(value.given); }
  void Value(StringMap& map);
  void Value(bool value) { out_ += value ? "true" : "false"; }
  void Value(std::unsigned_integral auto value) { AppendUint(out_, value); }
  void Value(std::signed_integral auto value) { AppendInt(out_, value); }

  template <typename T>
  void Value(std::optional<T>& value) {
    if (!value) {
      out_ += "null";
      return;
    }
    Value(*value);
  }

  template <typename T>
  void Value(std::vector<T>& values) {
    out_ += '[';
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      Value(values[i]);
    }
    out_ += ']';
  }

  template <NamedEnum T>
  void Value(T value) {
    for (const auto& [name, alternative] : EnumNames<T>::kNames) {
      if (alternative == value) return AppendString(out_, name);
    }
  }

  template <Encodable T>
  void Value(T& value) {
    out_ += '{';
    Encoder nested(out_);
    value.Fields(nested);
    out_ += '}';
  }

 private:
  static bool HasValue(const auto&) { return true; }
  static bool HasValue(const Given& value) { return value.given; }
  template <typename T>
  static bool HasValue(const std::optional<T>& value) {
    return value.has_value();
  }

  void Key(std::string_view name);

  std::string& out_;
  bool first_ = true;
};

template <Encodable T>
std::string Encode(T value) {
  std::string out;
  Encoder(out).Value(value);
  return out;
}

}  // namespace holdfast::wire
