// An Encoder writes JSON text straight into a string. A result struct lists its fields once in Fields(), and the
// Encoder walks that list. Text that is not UTF-8, such as a file name in an error message, is written with U+FFFD in
// place of each bad byte, because a WebSocket text frame must be valid UTF-8.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/decode.h"

namespace holdfast::wire {

void AppendString(std::string& out, std::string_view text);   // quoted and escaped
void AppendBase64(std::string& out, std::string_view bytes);  // quoted
void AppendInt(std::string& out, int64_t number);
void AppendUint(std::string& out, uint64_t number);

// Bytes that are sent as base64. The struct is a view, so the owner of the bytes keeps them until they are encoded.
struct Bytes {
  std::string_view raw;
};

class Encoder;

template <typename T>
concept Encodable = requires(T value, Encoder& encoder) { value.Fields(encoder); };

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  template <typename T>
  void Required(const char* name, T& value) {
    Key(name);
    Value(value);
  }

  // Writes the member only if it has a value. Required writes an optional without a value as null.
  template <typename T>
  void Optional(const char* name, std::optional<T>& value) {
    if (value) Required(name, *value);
  }

  void Value(const std::string& value) { AppendString(out_, value); }
  void Value(std::string_view value) { AppendString(out_, value); }
  void Value(const Bytes& value) { AppendBase64(out_, value.raw); }
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
  void Key(const char* name) {
    if (!first_) out_ += ',';
    first_ = false;
    AppendString(out_, name);
    out_ += ':';
  }

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
