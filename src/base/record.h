// A record is a value as bytes, for another process of the same build. A struct lists its members once, in Fields(),
// and may say in IsValid() which values make sense:
//
//   struct Mark { std::string path; int fd = -1;
//                 void Fields(this auto& self, auto& f) { f(self.path, self.fd); }
//                 bool IsValid() const { return fd > 2; } };
//
// The bytes are the members in their order, without names. A member is a number, a text without NUL, an enum with a
// function LastOf, another such struct, or an optional, vector, array or variant of these. A struct that is a record by
// itself has a name with a version, kRecord, with which its bytes begin.
//
// record_reader.h reads the bytes back.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace holdfast {

class RecordWriter {
 public:
  explicit RecordWriter(std::string& out) : out_(out) {}

  void operator()(const auto&... members) { (Put(members), ...); }

 private:
  template <typename T>
    requires std::integral<T> || std::is_enum_v<T>
  void Put(T value) {
    const auto wide = static_cast<std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>>(value);
    out_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  void Put(const std::string& text) { Put(static_cast<uint32_t>(text.size())), out_ += text; }
  template <typename T>
  void Put(const std::optional<T>& value) {
    Put(value.has_value());
    if (value) Put(*value);
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    Put(static_cast<uint32_t>(values.size()));
    for (const T& value : values) Put(value);
  }
  template <typename T, size_t N>
  void Put(const std::array<T, N>& values) {
    for (const T& value : values) Put(value);
  }
  template <typename... T>
  void Put(const std::variant<T...>& value) {
    Put(static_cast<uint32_t>(value.index()));
    std::visit([this](const auto& alternative) { this->Put(alternative); }, value);
  }
  template <typename T>
    requires std::is_class_v<T>
  void Put(const T& value) {
    if constexpr (!std::is_empty_v<T>) value.Fields(*this);
  }

  std::string& out_;
};

template <typename T>
std::string EncodeRecord(const T& value) {
  std::string bytes(T::kRecord);
  RecordWriter writer(bytes);
  writer(value);
  return bytes;
}

}  // namespace holdfast
